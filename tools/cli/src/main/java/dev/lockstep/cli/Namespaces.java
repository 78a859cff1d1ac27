package dev.lockstep.cli;

import dev.lockstep.LockAdmin;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockstepException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which namespaces a command looks at: its own, or all of the engine. */
final class Namespaces {
    /** A hint looks at no more than this many namespaces, so that it does not take long. */
    private static final int MOST_FOR_A_HINT = 100;

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "Look at all namespaces of the engine.")
    private boolean all;

    /** A lock, and the namespace in which it is. */
    record Located(String namespace, LockInfo info) {}

    boolean all() {
        return all;
    }

    /** The result of a question in the command's own namespace, or in all. */
    List<Located> find(LockClient client, String own, Function<LockAdmin, List<LockInfo>> question) {
        List<Located> found = new ArrayList<>();
        for (String namespace : all ? all(client, own) : List.of(own)) {
            question.apply(client.admin(namespace)).forEach(info -> found.add(new Located(namespace, info)));
        }
        return found;
    }

    private static List<String> all(LockClient client, String own) {
        TreeSet<String> names = new TreeSet<>(client.namespaces());
        names.add(own);
        return List.copyOf(names);
    }

    /**
     * The result of a look at the other namespaces.
     *
     * @param found the namespaces that have something, in words; null if there are none
     * @param unseen how many more there are, at which nobody has looked
     */
    record Elsewhere(@Nullable String found, int unseen) {}

    /** The other namespaces that have something, in words; null if there are none. */
    static @Nullable String elsewhere(LockClient client, String own, Predicate<LockAdmin> isThere) {
        return look(client, own, isThere).found();
    }

    /**
     * Looks at other namespaces, at a limited number of them. It is only for a hint, so nothing is found if the engine does
     * not know them, or does not permit the question.
     */
    static Elsewhere look(LockClient client, String own, Predicate<LockAdmin> isThere) {
        try {
            List<String> others = client.namespaces().stream()
                    .filter(namespace -> !namespace.equals(own))
                    .toList();
            List<String> seen = others.subList(0, Math.min(others.size(), MOST_FOR_A_HINT));
            List<String> found = seen.stream()
                    .filter(namespace -> isThere.test(client.admin(namespace)))
                    .toList();
            String words = found.isEmpty()
                    ? null
                    : (found.size() == 1 ? "namespace " : "namespaces ")
                            + found.stream().map(each -> "'" + each + "'").collect(Collectors.joining(", "));
            return new Elsewhere(words, others.size() - seen.size());
        } catch (LockstepException e) {
            return new Elsewhere(null, 0);
        }
    }

    /** The cells of a row, after the namespace if several are shown. */
    Object[] cells(String namespace, Object... cells) {
        if (!all) {
            return cells;
        }
        Object[] more = new Object[cells.length + 1];
        more[0] = namespace;
        System.arraycopy(cells, 0, more, 1, cells.length);
        return more;
    }

    /** A table with these headings, after that of the namespace if several are shown. */
    TextTable table(String... headings) {
        TextTable table = new TextTable();
        table.add(cells("NAMESPACE", (Object[]) headings));
        return table;
    }
}
