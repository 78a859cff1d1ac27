package dev.lockstep.redis;

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
 * Requests to one server for which nobody waits with a thread. Few threads carry them; when many requests are there, one
 * thread sends them back to back. Those that end something go before those that begin something, so that a crowd does not
 * keep its own from finishing. Safe for use by many threads.
 */
final class Mailbox {
    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);
    /** How many threads carry letters to one server. */
    static final int CARRIERS = 2;

    private static final int BATCH = 64;

    private final Link link;
    private final Scheduler scheduler;
    private final Deque<Letter> urgent = new ArrayDeque<>(); // guarded by this, as the rest
    private final Deque<Letter> ordinary = new ArrayDeque<>();
    private int carriers;

    Mailbox(Link link, Scheduler scheduler) {
        this.link = link;
        this.scheduler = scheduler;
    }

    private record Letter(
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
                log.error("An answer was not understood", e); // the other letters' are
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
        Letter letter = new Letter(new ScriptRun(script, -1, keys, args), link.deadline(), whenAnswered);
        synchronized (this) {
            (first ? urgent : ordinary).add(letter);
            if (carriers == CARRIERS) {
                return;
            }
            carriers++;
        }
        link.execute(this::carry);
    }

    private void carry() {
        for (List<Letter> batch = next(); !batch.isEmpty(); batch = next()) {
            carry(batch);
        }
    }

    /** What is to be sent now. What has waited for too long is given up, so that a silent server does not pile letters up. */
    private List<Letter> next() {
        List<Letter> tooOld = new ArrayList<>();
        List<Letter> batch;
        synchronized (this) {
            long now = scheduler.nanoTime();
            for (Deque<Letter> queue : List.of(urgent, ordinary)) {
                while (!queue.isEmpty() && queue.peek().deadlineNanos - now <= 0) {
                    tooOld.add(queue.remove());
                }
            }
            batch = take();
        }
        if (!tooOld.isEmpty()) {
            Failure late = Failure.notSent(link.route().toString(), "there was no time left to send the request", null);
            tooOld.forEach(letter -> letter.fail(late));
        }
        return batch;
    }

    private List<Letter> take() {
        List<Letter> batch = new ArrayList<>();
        while (batch.size() < BATCH) {
            Letter letter = urgent.isEmpty() ? ordinary.poll() : urgent.poll();
            if (letter == null) {
                break;
            }
            batch.add(letter);
        }
        if (batch.isEmpty()) {
            carriers--;
        }
        return batch;
    }

    private void carry(List<Letter> batch) {
        long deadline = batch.get(0).deadlineNanos;
        for (Letter letter : batch) {
            deadline = letter.deadlineNanos - deadline > 0 ? letter.deadlineNanos : deadline;
        }
        List<Object> replies;
        try {
            replies = link.pipeline(
                    link.pooled(), batch.stream().map(Letter::run).toList(), deadline, connection -> true);
        } catch (Failure e) {
            batch.forEach(letter -> letter.fail(e));
            return;
        } catch (RuntimeException | Error e) {
            log.error("Requests to Redis {} ended by an error", link.route(), e); // and the carrier goes on
            Failure unknown = Failure.of(link.route().toString(), e);
            batch.forEach(letter -> letter.fail(unknown));
            return;
        }
        for (int i = 0; i < batch.size(); i++) {
            deliver(batch.get(i), replies.get(i), deadline);
        }
    }

    private void deliver(Letter letter, Object reply, long deadline) {
        if (reply instanceof JedisNoScriptException) {
            try {
                ScriptRun run = letter.run;
                letter.answer(link.eval(run.script(), run.slot(), run.keys(), run.args(), deadline));
            } catch (Failure e) {
                letter.fail(e);
            }
        } else if (reply instanceof JedisDataException error) {
            letter.fail(Failure.of(link.route().toString(), error));
        } else {
            letter.answer(reply);
        }
    }
}
