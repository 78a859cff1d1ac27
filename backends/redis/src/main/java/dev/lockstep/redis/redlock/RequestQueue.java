package dev.lockstep.redis.redlock;

import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.redis.internal.ScriptRun;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Requests to one server for which nobody waits with a thread. Few threads send them; when many requests are there, one
 * thread sends them back to back. Requests that end something go before requests that begin something, so that many new
 * claims do not delay releases. Safe for use by many threads.
 */
final class RequestQueue {
    private static final Logger log = LoggerFactory.getLogger(RequestQueue.class);
    /** How many threads send requests to one server. */
    static final int THREADS = 2;

    private static final int BATCH = 64;

    private final Link link;
    private final Scheduler scheduler;
    private final Deque<Request> urgent = new ArrayDeque<>(); // guarded by this, as the rest
    private final Deque<Request> ordinary = new ArrayDeque<>();
    private int threads;

    RequestQueue(Link link, Scheduler scheduler) {
        this.link = link;
        this.scheduler = scheduler;
    }

    private record Request(
            ScriptRun run, long deadlineNanos, BiConsumer<@Nullable Object, @Nullable Failure> whenAnswered) {
        void answer(Object reply) {
            tell(reply, null);
        }

        void fail(Failure failure) {
            tell(null, failure);
        }

        private void tell(@Nullable Object reply, @Nullable Failure failure) {
            try {
                whenAnswered.accept(reply, failure);
            } catch (RuntimeException | Error e) {
                log.error("An answer was not understood", e); // the other requests' are
            }
        }
    }

    /**
     * Sends a request, until the request timeout at most.
     *
     * @param first whether it goes before those that ask for something new
     * @param whenAnswered has the answer or the failure, on a thread that it must not block
     */
    void send(
            Script script,
            byte[][] keys,
            byte[][] args,
            boolean first,
            BiConsumer<@Nullable Object, @Nullable Failure> whenAnswered) {
        Request request = new Request(new ScriptRun(script, -1, keys, args), link.requestDeadlineNanos(), whenAnswered);
        synchronized (this) {
            (first ? urgent : ordinary).add(request);
            if (threads == THREADS) {
                return;
            }
            threads++;
        }
        link.execute(this::sendAll);
    }

    private void sendAll() {
        for (List<Request> batch = next(); !batch.isEmpty(); batch = next()) {
            send(batch);
        }
    }

    /** The next request to send. Requests that have waited for too long are dropped, so that they do not pile up at a silent server. */
    private List<Request> next() {
        List<Request> tooOld = new ArrayList<>();
        List<Request> batch;
        synchronized (this) {
            long now = scheduler.nanoTime();
            for (Deque<Request> queue : List.of(urgent, ordinary)) {
                while (!queue.isEmpty() && queue.peek().deadlineNanos - now <= 0) {
                    tooOld.add(queue.remove());
                }
            }
            batch = take();
        }
        if (!tooOld.isEmpty()) {
            Failure late = Failure.notSent(link.route().toString(), "there was no time left to send the request", null);
            tooOld.forEach(request -> request.fail(late));
        }
        return batch;
    }

    private List<Request> take() {
        List<Request> batch = new ArrayList<>();
        while (batch.size() < BATCH) {
            Request request = urgent.isEmpty() ? ordinary.poll() : urgent.poll();
            if (request == null) {
                break;
            }
            batch.add(request);
        }
        if (batch.isEmpty()) {
            threads--;
        }
        return batch;
    }

    private void send(List<Request> batch) {
        long deadline = batch.get(0).deadlineNanos;
        for (Request request : batch) {
            deadline = request.deadlineNanos - deadline > 0 ? request.deadlineNanos : deadline;
        }
        List<Object> replies;
        try {
            replies = link.pipeline(
                    link.pooled(), batch.stream().map(Request::run).toList(), deadline, connection -> true);
        } catch (Failure e) {
            batch.forEach(request -> request.fail(e));
            return;
        } catch (RuntimeException | Error e) {
            log.error("Requests to server {} ended by an error", link.route(), e); // and the thread continues
            Failure unknown = Failure.of(link.route().toString(), e);
            batch.forEach(request -> request.fail(unknown));
            return;
        }
        for (int i = 0; i < batch.size(); i++) {
            deliver(batch.get(i), replies.get(i), deadline);
        }
    }

    private void deliver(Request request, Object reply, long deadline) {
        if (reply instanceof JedisNoScriptException) {
            try {
                ScriptRun run = request.run;
                request.answer(link.eval(run.script(), run.slot(), run.keys(), run.args(), deadline));
            } catch (Failure e) {
                request.fail(e);
            }
        } else if (reply instanceof JedisDataException error) {
            request.fail(Failure.of(link.route().toString(), error));
        } else {
            request.answer(reply);
        }
    }
}
