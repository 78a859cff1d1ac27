package dev.lockstep.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Asks one question about many locks with few requests: a script that answers for as many as it is given keys of, and in
 * a cluster a run of it for each slot. Each lock has its own answer: what fails for one says nothing of the others.
 */
final class Batches {
    /** A script that runs for some milliseconds keeps others waiting for as long. */
    static final int SIZE = 500;

    /** How many runs go to one server before their answers are read. */
    private static final int PIPELINE = 100;

    private Batches() {}

    /**
     * Asks.
     *
     * @param items what is asked about
     * @param locks the lock of each item
     * @param keys the keys of each lock that the script needs
     * @param first the script's arguments before those of the items, none if there are none for items either
     * @param argument the script's argument of each item
     * @param reached asked on each connection after its scripts; if it says no, all that they did is a failure
     * @return a reply for each item
     */
    static <T> Map<T, Reply<Object>> ask(
            Link link,
            Script script,
            List<T> items,
            Function<T, LockKeys> locks,
            Function<LockKeys, byte[][]> keys,
            List<byte[]> first,
            Function<T, byte[]> argument,
            Predicate<Connection> reached,
            long deadlineNanos) {
        List<List<T>> groups = groups(link, items, locks);
        List<Link.Run> runs = new ArrayList<>(groups.size());
        for (List<T> group : groups) {
            List<byte[]> all = new ArrayList<>();
            List<byte[]> args = new ArrayList<>(first);
            for (T item : group) {
                all.addAll(List.of(keys.apply(locks.apply(item))));
                if (!first.isEmpty()) {
                    args.add(argument.apply(item));
                }
            }
            int slot = link.slot(locks.apply(group.get(0)));
            runs.add(new Link.Run(script, slot, all.toArray(byte[][]::new), args.toArray(byte[][]::new)));
        }
        List<Reply<Object>> replies = run(link, runs, deadlineNanos, reached);
        Map<T, Reply<Object>> answers = new LinkedHashMap<>();
        for (int i = 0; i < groups.size(); i++) {
            List<T> group = groups.get(i);
            for (int j = 0; j < group.size(); j++) {
                answers.put(group.get(j), part(link, replies.get(i), j));
            }
        }
        return answers;
    }

    /** What a script's reply says of one of its items. */
    private static Reply<Object> part(Link link, Reply<Object> reply, int index) {
        try {
            Object answer = ((List<?>) reply.get()).get(index);
            return answer instanceof JedisDataException error
                    ? Reply.failed(Failure.of(link.route().toString(), error))
                    : Reply.of(answer);
        } catch (Failure e) {
            return Reply.failed(e);
        }
    }

    /** Runs scripts, those for one server back to back without waiting for each answer. Each may be run twice. */
    private static List<Reply<Object>> run(
            Link link, List<Link.Run> runs, long deadlineNanos, Predicate<Connection> reached) {
        Map<Link.Run, Reply<Object>> replies = new IdentityHashMap<>();
        for (List<Link.Run> group : byServer(link, runs, deadlineNanos, replies)) {
            try {
                List<Object> answers = link.pipeline(group, deadlineNanos, reached);
                for (int i = 0; i < group.size(); i++) {
                    replies.put(group.get(i), Reply.of(answers.get(i)));
                }
            } catch (Failure e) {
                group.forEach(run -> replies.put(run, Reply.failed(e)));
            }
        }
        List<Reply<Object>> all = new ArrayList<>(runs.size());
        for (Link.Run run : runs) {
            all.add(accepted(link, run, replies.get(run), deadlineNanos, reached));
        }
        return all;
    }

    /** A run that was refused is made again on its own, which knows about scripts that are missing and slots that moved. */
    private static Reply<Object> accepted(
            Link link, Link.Run run, Reply<Object> first, long deadlineNanos, Predicate<Connection> reached) {
        try {
            return first.get() instanceof JedisDataException ? Reply.of(link.eval(run, deadlineNanos, reached)) : first;
        } catch (Failure e) {
            return Reply.failed(e);
        }
    }

    /** Groups runs by their servers; one whose server is not known, because the node cannot be reached, has failed. */
    private static List<List<Link.Run>> byServer(
            Link link, List<Link.Run> runs, long deadlineNanos, Map<Link.Run, Reply<Object>> failed) {
        Map<String, List<Link.Run>> current = new HashMap<>();
        List<List<Link.Run>> groups = new ArrayList<>();
        for (Link.Run run : runs) {
            String server;
            try {
                server = link.serverOf(run.slot(), deadlineNanos);
            } catch (Failure e) {
                failed.put(run, Reply.failed(e));
                continue;
            }
            List<Link.Run> group = current.get(server);
            if (group == null || group.size() == PIPELINE) {
                group = new ArrayList<>();
                current.put(server, group);
                groups.add(group);
            }
            group.add(run);
        }
        return groups;
    }

    private static <T> List<List<T>> groups(Link link, List<T> items, Function<T, LockKeys> locks) {
        Map<Integer, List<T>> current = new LinkedHashMap<>();
        List<List<T>> groups = new ArrayList<>();
        for (T item : items) {
            int slot = link.slot(locks.apply(item));
            List<T> group = current.get(slot);
            if (group == null || group.size() == SIZE) {
                group = new ArrayList<>();
                current.put(slot, group);
                groups.add(group);
            }
            group.add(item);
        }
        return groups;
    }
}
