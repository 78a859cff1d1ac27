package dev.lockstep.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import redis.clients.jedis.Connection;

/**
 * Asks one question about many locks with few requests: a script that answers for as many as it is given keys of, and in
 * a cluster a run of it for each slot.
 */
final class Batches {
    /** A script that runs for some milliseconds keeps others waiting for as long. */
    static final int SIZE = 500;

    private Batches() {}

    /**
     * Asks.
     *
     * @param items what is asked about
     * @param locks the lock of each item
     * @param keys the keys of each lock that the script needs
     * @param first the script's arguments before those of the items, none if there are none for items either
     * @param argument the script's argument of each item
     * @param reached asked on each connection after its scripts; if it says no, the whole is a failure
     * @return an answer for each item
     */
    static <T> Map<T, Object> ask(
            Link link,
            Script script,
            List<T> items,
            Function<T, LockKeys> locks,
            Function<LockKeys, byte[][]> keys,
            List<byte[]> first,
            Function<T, byte[]> argument,
            Predicate<Connection> reached,
            long deadlineNanos)
            throws Failure {
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
        List<Object> replies = link.evalAll(runs, deadlineNanos, reached);
        Map<T, Object> answers = new LinkedHashMap<>();
        for (int i = 0; i < groups.size(); i++) {
            List<?> reply = (List<?>) replies.get(i);
            for (int j = 0; j < groups.get(i).size(); j++) {
                answers.put(groups.get(i).get(j), reply.get(j));
            }
        }
        return answers;
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
