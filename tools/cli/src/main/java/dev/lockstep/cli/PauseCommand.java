package dev.lockstep.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;

/** The pause: a holder stops for longer than its ttl, as in a long garbage collection, and then continues. */
@Command(
        name = "pause",
        description = {
            "Stops the process that holds the lock, for longer than the lock's ttl, and then resumes it: the next"
                    + " process is granted the lock, the first is notified of its loss, and its late write is refused.",
            "Without --url and LOCKSTEP_URL the lock is in a SQLite file. The exit code is 1 if it ends otherwise."
        })
final class PauseCommand extends Demo {
    private static final int SLACK_SECONDS = 30;

    private final List<Map<String, Object>> events = new ArrayList<>();
    private long start;

    @Override
    public Integer call() throws Exception {
        return withCrew(2, 2, this::pause);
    }

    private int pause(Crew crew) throws Exception {
        start = System.nanoTime();
        WorkerProcess first = crew.processes().get(0);
        WorkerProcess second = crew.processes().get(1);
        int seconds = (int) ttl.toSeconds() + SLACK_SECONDS;

        first.send("acquire");
        long firstToken = token(crew.next("granted", seconds));
        tell(1, "granted", "is granted the lock, with token " + firstToken);
        write(crew, first, 1, seconds);
        first.signal("STOP");
        tell(1, "stopped", "is stopped (SIGSTOP), as in a long garbage collection");
        second.send("acquire");
        tell(2, "waits", "waits for the lock; its ttl is " + ttl.toMillis() + " ms");

        WorkerProcess.Line granted = crew.next("granted", seconds);
        long secondToken = token(granted);
        tell(2, "granted", "is granted the lock, with token " + secondToken);
        boolean secondWrote = write(crew, second, 2, seconds);
        first.signal("CONT");
        tell(1, "continued", "continues (SIGCONT), and believes that it holds the lock");
        String reason = words(crew.next("lost", seconds))[1];
        tell(1, "lost", "is notified that it has lost the lock (" + reason + ")");
        boolean firstWrote = write(crew, first, 3, seconds);

        boolean exact = granted.from() == second && secondWrote && !firstWrote && secondToken > firstToken;
        finish(firstToken, secondToken, exact);
        return exact ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private boolean write(Crew crew, WorkerProcess process, int number, int seconds) throws InterruptedException {
        process.send("write " + number);
        String word = words(crew.next("", seconds))[0];
        if (word.equals("lost")) {
            throw new Refusal(
                    ExitCodes.FAILED,
                    "process " + process.index()
                            + " of the demo lost the lock before it was stopped: the engine or the machine is"
                            + " too busy for a ttl of " + ttl.toSeconds() + " s. Use a longer --ttl.");
        }
        boolean written = word.equals("written");
        tell(
                process.index(),
                written ? "written" : "refused",
                written ? "writes with its token: accepted" : "writes with its token: refused, a higher one was seen");
        return written;
    }

    private static String[] words(WorkerProcess.Line line) {
        return String.valueOf(line.text()).split(" ");
    }

    private static long token(WorkerProcess.Line line) {
        return Long.parseLong(words(line)[1]);
    }

    private void tell(int process, String event, String words) {
        double seconds = (System.nanoTime() - start) / 1e9;
        words().println(String.format(Locale.ROOT, "%8.3f s  process %d %s", seconds, process, words));
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("seconds", seconds);
        json.put("process", process);
        json.put("event", event);
        events.add(json);
    }

    private void finish(long firstToken, long secondToken, boolean exact) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("engine", engineName());
            answer.put("events", events);
            answer.put("firstToken", Long.toString(firstToken));
            answer.put("secondToken", Long.toString(secondToken));
            answer.put("exact", exact);
            out.println(Json.write(answer));
        } else {
            out.println();
            out.println(
                    exact
                            ? "The pause did no harm: the storage accepted only writes of the current holder."
                            : "NOT AS EXPECTED: see the timeline. Please report this, with the engine.");
        }
    }
}
