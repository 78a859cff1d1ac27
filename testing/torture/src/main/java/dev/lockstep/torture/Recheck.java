package dev.lockstep.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The checker's verdict on a history that an earlier run wrote down. Immutable. */
public final class Recheck {
    private final HistoryFile file;
    private final Verdict verdict;

    private Recheck(HistoryFile file, Verdict verdict) {
        this.file = file;
        this.verdict = verdict;
    }

    /**
     * Reads a history and checks what it shows by itself: exclusion, tokens, and order.
     *
     * @param path the file
     * @return what was found
     * @throws IOException if it cannot be read, or is no history
     */
    public static Recheck of(Path path) throws IOException {
        HistoryFile file = HistoryFile.read(path);
        return new Recheck(file, new Checker(file.history(), file.settleNanos()).check());
    }

    Verdict verdict() {
        return verdict;
    }

    /**
     * Returns whether every rule held that the engine promises.
     *
     * @return false if one was broken
     */
    public boolean holds() {
        return verdict.holds();
    }

    /**
     * Says what was counted, and what was found.
     *
     * @return lines for people
     */
    public List<String> lines() {
        History history = file.history();
        List<String> lines = new ArrayList<>();
        lines.add(file.engine() + ": " + history.size() + " calls, " + history.enteredCount() + " got the lock, "
                + history.faults().stream().filter(fault -> !fault.isStall()).count() + " faults");
        for (Rule rule : Rule.values()) {
            if (rule.isOfSections()) {
                lines.add(rule.broken() + ": " + verdict.broken(rule) + " of " + verdict.checked(rule) + ", and "
                        + verdict.excused(rule) + " where not promised");
                verdict.examples(rule).forEach(each -> lines.add("  " + each.line()));
            }
        }
        return lines;
    }
}
