package dev.lockstep.redis.internal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Asks one question about many locks with few requests: a script that answers for as many as it is given keys of, and in
 * a cluster a run of it for each slot. Each lock has its own answer: a failure for one says nothing about the others.
 */
public final class Batches {
    /** A script blocks the server for as long as it runs. */
    public static final int SIZE = 500;

    /** How many runs go to one server before their answers are read. */
    private static final int PIPELINE = 100;

    private Batches() {}

    /**
     * A question about each of many items.
     *
     * @param script answers for as many items as it is given keys of
     * @param locks the lock of each item
     * @param keys the keys of each lock that the script needs
     * @param first the script's arguments before those of the items, none if there are none for items either
     * @param argument the script's argument of each item
     * @param reached asked on each connection after its scripts; if it says no, all that they did is a failure
     */
    public record Question<T>(
            Script script,
            Function<T, Keys> locks,
            Function<Keys, byte[][]> keys,
            List<byte[]> first,
            Function<T, byte[]> argument,
            Predicate<Connection> reached) {
        private ScriptRun about(List<T> group, int slot) {
            List<byte[]> all = new ArrayList<>();
            List<byte[]> args = new ArrayList<>(first);
            for (T item : group) {
                all.addAll(List.of(keys.apply(locks.apply(item))));
                if (!first.isEmpty()) {
                    args.add(argument.apply(item));
                }
            }
            return new ScriptRun(script, slot, all.toArray(byte[][]::new), args.toArray(byte[][]::new));
        }
    }

    /** Asks; a reply for each item. */
    public static <T> Map<T, Reply<Object>> ask(
            Link link, Connections connections, Question<T> question, List<T> items, long deadlineNanos) {
        List<List<T>> groups = groups(link, items, question.locks);
        List<ScriptRun> runs = groups.stream()
                .map(group -> question.about(group, link.slot(question.locks.apply(group.get(0)))))
                .toList();
        Way way = new Way(link, connections, question.reached, deadlineNanos);
        List<Reply<Object>> replies = way.run(runs);
        Map<T, Reply<Object>> answers = new LinkedHashMap<>();
        for (int i = 0; i < groups.size(); i++) {
            List<T> group = groups.get(i);
            for (int j = 0; j < group.size(); j++) {
                answers.put(group.get(j), part(link, replies.get(i), j));
            }
        }
        return answers;
    }

    /** The part of a script's reply about one of its items. */
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

    private static <T> List<List<T>> groups(Link link, List<T> items, Function<T, Keys> locks) {
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

    /** How scripts are run: on which connections, until when, and what must have happened after them. */
    private record Way(Link link, Connections connections, Predicate<Connection> reached, long deadlineNanos) {
        /** Runs scripts, those for one server back to back without waiting for each answer. Each may be run twice. */
        List<Reply<Object>> run(List<ScriptRun> runs) {
            Map<ScriptRun, Reply<Object>> replies = new IdentityHashMap<>();
            for (List<ScriptRun> group : byServer(runs, replies)) {
                try {
                    List<Object> answers = link.pipeline(connections, group, deadlineNanos, reached);
                    for (int i = 0; i < group.size(); i++) {
                        replies.put(group.get(i), Reply.of(answers.get(i)));
                    }
                } catch (Failure e) {
                    group.forEach(run -> replies.put(run, Reply.failed(e)));
                }
            }
            List<Reply<Object>> all = new ArrayList<>(runs.size());
            for (ScriptRun run : runs) {
                all.add(accepted(run, Objects.requireNonNull(replies.get(run))));
            }
            return all;
        }

        /** A run that was refused is made again on its own, which knows about missing scripts and slots that moved. */
        private Reply<Object> accepted(ScriptRun run, Reply<Object> first) {
            try {
                return first.get() instanceof JedisDataException
                        ? Reply.of(link.eval(connections, run, deadlineNanos, reached))
                        : first;
            } catch (Failure e) {
                return Reply.failed(e);
            }
        }

        /** Groups runs by their servers; one whose server cannot be found out has failed. */
        private List<List<ScriptRun>> byServer(List<ScriptRun> runs, Map<ScriptRun, Reply<Object>> failed) {
            Map<String, List<ScriptRun>> current = new HashMap<>();
            List<List<ScriptRun>> groups = new ArrayList<>();
            for (ScriptRun run : runs) {
                try {
                    link.locate(connections, run.slot(), deadlineNanos);
                } catch (Failure e) {
                    failed.put(run, Reply.failed(e));
                    continue;
                }
                String server = String.valueOf(link.route().serverOf(run.slot()));
                List<ScriptRun> group = current.get(server);
                if (group == null || group.size() == PIPELINE) {
                    group = new ArrayList<>();
                    current.put(server, group);
                    groups.add(group);
                }
                group.add(run);
            }
            return groups;
        }
    }
}
