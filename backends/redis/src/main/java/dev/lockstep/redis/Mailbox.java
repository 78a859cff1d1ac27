package dev.lockstep.redis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Requests to one server for which nobody waits with a thread. Few threads carry them; when many requests are there, one
 * thread sends them back to back. Those that end something go before those that begin something, so that a crowd does not
 * keep its own from finishing. Safe for use by many threads.
 */
final class Mailbox {
    private static final int CARRIERS = 4;
    private static final int BATCH = 64;

    private final Link link;
    private final Deque<Letter> urgent = new ArrayDeque<>(); // guarded by this, as the rest
    private final Deque<Letter> ordinary = new ArrayDeque<>();
    private int carriers;

    Mailbox(Link link) {
        this.link = link;
    }

    private record Letter(
            Link.Run run, long deadlineNanos, BiConsumer<@Nullable Object, @Nullable Failure> whenAnswered) {
        void answer(Object reply) {
            whenAnswered.accept(reply, null);
        }

        void fail(Failure failure) {
            whenAnswered.accept(null, failure);
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
        Letter letter = new Letter(new Link.Run(script, -1, keys, args), link.deadline(), whenAnswered);
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

    private synchronized List<Letter> next() {
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
            replies = link.pipeline(batch.stream().map(Letter::run).toList(), deadline);
        } catch (Failure e) {
            batch.forEach(letter -> letter.fail(e));
            return;
        }
        for (int i = 0; i < batch.size(); i++) {
            deliver(batch.get(i), replies.get(i), deadline);
        }
    }

    private void deliver(Letter letter, Object reply, long deadline) {
        if (reply instanceof JedisNoScriptException) {
            try {
                Link.Run run = letter.run;
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
