package dev.lockstep.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The processes of a demo, and the ledger that they share. For one thread. */
final class Crew implements AutoCloseable {
    private static final int READY_SECONDS = 60;

    private final LinkedBlockingQueue<WorkerProcess.Line> lines = new LinkedBlockingQueue<>();
    private final List<WorkerProcess> processes = new ArrayList<>();
    private final Ledger ledger;

    private Crew(Ledger ledger) {
        this.ledger = ledger;
    }

    /** Starts the processes, and waits until all have connected. */
    static Crew start(int count, String url, Path file, List<String> options)
            throws IOException, SQLException, InterruptedException {
        Crew crew = new Crew(Ledger.open(file));
        try {
            crew.ledger.reset(0);
            List<String> all = new ArrayList<>(options);
            all.addAll(List.of("--ledger", file.toString()));
            for (int i = 1; i <= count; i++) {
                crew.processes.add(WorkerProcess.start(i, url, all, crew.lines));
            }
            for (int i = 0; i < count; i++) {
                crew.next("ready", READY_SECONDS);
            }
            return crew;
        } catch (Throwable e) {
            crew.close();
            throw e;
        }
    }

    List<WorkerProcess> processes() {
        return processes;
    }

    Ledger ledger() {
        return ledger;
    }

    LinkedBlockingQueue<WorkerProcess.Line> lines() {
        return lines;
    }

    /** Waits for the next line, which must begin with a word, and returns the line. */
    WorkerProcess.Line next(String word, int seconds) throws InterruptedException {
        WorkerProcess.Line line = lines.poll(seconds, TimeUnit.SECONDS);
        if (line == null) {
            throw new Refusal(ExitCodes.FAILED, "the demo's processes did not say '" + word + "' in " + seconds + " s");
        }
        if (line.text() == null) {
            throw new Refusal(
                    ExitCodes.FAILED, "process " + line.from().index() + " of the demo has ended unexpectedly");
        }
        if (!line.text().startsWith(word)) {
            throw new Refusal(
                    ExitCodes.FAILED,
                    "process " + line.from().index() + " of the demo said '" + line.text() + "', not '" + word + "'");
        }
        return line;
    }

    @Override
    public void close() {
        processes.forEach(WorkerProcess::close);
        try {
            ledger.close();
        } catch (SQLException e) {
            // The file is deleted with the demo.
        }
    }
}
