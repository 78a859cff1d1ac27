package dev.lockstep.torture;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A history on the disk, as lines of words: for people with grep, and for the checker.
 *
 * <pre>
 * history 4 ENGINE SETTLE_NANOS
 * section CLIENT LOCK exclusive|shared|PERMITS/LIMIT fair|unfair ASKED QUEUED ENTERED CERTAIN ENDED EXITED TOKEN
 * fault FROM UNTIL CLIENT LOCK landed|missed EXCUSED,RULES|none KIND|TARGET
 * </pre>
 *
 * @param engine whose it is
 * @param settleNanos how long after a fault holds from before it can have an effect
 * @param history what happened
 */
record HistoryFile(String engine, long settleNanos, History history) {
    private static final String HEAD = "history 4 ";
    private static final int SECTION_WORDS = 12;
    private static final int FAULT_WORDS = 8;

    static void write(Path file, HistoryFile content) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write(HEAD + content.engine + " " + content.settleNanos + "\n");
            for (int section = 0; section < content.history.size(); section++) {
                out.write(line(content.history, section));
            }
            for (FaultWindow fault : content.history.faults()) {
                out.write(line(fault));
            }
        }
    }

    private static String line(History history, int section) {
        return "section " + history.client(section) + " " + history.lock(section)
                + " " + kind(history, section)
                + (history.isFair(section) ? " fair " : " unfair ")
                + history.asked(section) + " " + history.queued(section) + " " + history.entered(section) + " "
                + history.certain(section) + " " + history.ended(section) + " " + history.exited(section) + " "
                + history.token(section) + "\n";
    }

    private static String kind(History history, int section) {
        if (history.limit(section) > 0) {
            return history.permits(section) + "/" + history.limit(section);
        }
        return history.isShared(section) ? "shared" : "exclusive";
    }

    private static String line(FaultWindow fault) {
        String excuses = fault.excuses().isEmpty()
                ? "none"
                : fault.excuses().stream().sorted().map(Rule::name).collect(Collectors.joining(","));
        return "fault " + fault.from() + " " + fault.until() + " " + fault.client() + " " + fault.lock()
                + (fault.landed() ? " landed " : " missed ") + excuses.toLowerCase(Locale.ROOT) + " " + fault.kind()
                + "|" + fault.target() + "\n";
    }

    /** Reads one; an {@link IOException} says which line is none. */
    static HistoryFile read(Path file) throws IOException {
        try (BufferedReader in = Files.newBufferedReader(file)) {
            String head = in.readLine();
            if (head == null || !head.startsWith(HEAD)) {
                throw new IOException(file + " is not a history of a torture");
            }
            String[] words = head.substring(HEAD.length()).split(" ");
            HistoryFile content = new HistoryFile(words[0], Long.parseLong(words[1]), new History());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                content.add(line, file);
            }
            return content;
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            throw new IOException(file + " is damaged", e);
        }
    }

    private void add(String line, Path file) throws IOException {
        if (line.startsWith("section ")) {
            addSection(line.split(" ", SECTION_WORDS));
        } else if (line.startsWith("fault ")) {
            addFault(line.split(" ", FAULT_WORDS));
        } else {
            throw new IOException(file + " has a line that says nothing: " + line);
        }
    }

    private void addSection(String[] words) {
        int client = Integer.parseInt(words[1]);
        int lock = Integer.parseInt(words[2]);
        long asked = Long.parseLong(words[5]);
        String[] permits = words[3].split("/", 2);
        int section = permits.length == 2
                ? history.askPermits(client, lock, Integer.parseInt(permits[0]), Integer.parseInt(permits[1]), asked)
                : history.ask(client, lock, words[3].equals("shared"), words[4].equals("fair"), asked);
        history.queued(section, Long.parseLong(words[6]));
        history.entered(section, Long.parseLong(words[7]), Long.parseLong(words[11]));
        history.certain(section, Long.parseLong(words[8]));
        history.ended(section, Long.parseLong(words[9]));
        history.exited(section, Long.parseLong(words[10]));
    }

    private void addFault(String[] words) {
        Set<Rule> excuses = words[6].equals("none")
                ? Set.of()
                : Stream.of(words[6].toUpperCase(Locale.ROOT).split(","))
                        .map(Rule::valueOf)
                        .collect(Collectors.toSet());
        String[] what = words[7].split("\\|", 2);
        history.add(new FaultWindow(
                what[0],
                what[1],
                Integer.parseInt(words[3]),
                Integer.parseInt(words[4]),
                excuses,
                Long.parseLong(words[1]),
                Long.parseLong(words[2]),
                words[5].equals("landed")));
    }
}
