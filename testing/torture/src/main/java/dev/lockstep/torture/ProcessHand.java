package dev.lockstep.torture;

import dev.lockstep.servers.JavaProcess;
import dev.lockstep.servers.ServerException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A worker in a process of its own. */
final class ProcessHand implements Hand, AutoCloseable {
    // Both only end a run that would hang: no rule is checked by them.
    private static final Duration START = Duration.ofMinutes(5);
    private static final Duration ANSWER = Duration.ofMinutes(3);

    private final WorkerMain.Order order;
    private final JavaProcess process;

    /** Starts a process, which connects. */
    ProcessHand(String url, WorkerMain.Order order) {
        this.order = order;
        this.process = JavaProcess.start(WorkerMain.class.getName());
        process.send(url);
        process.send(order.toString());
    }

    /** Waits until it has connected. */
    ProcessHand awaitReady() {
        process.next(START);
        return this;
    }

    WorkerMain.Order order() {
        return order;
    }

    JavaProcess process() {
        return process;
    }

    @Override
    public int client() {
        return order.plan().client();
    }

    @Override
    public void go(Worker.Pace pace) {
        process.send("go " + pace);
    }

    @Override
    public String calls() {
        return ask("calls");
    }

    @Override
    public long stalledNanos() {
        return Long.parseLong(ask("stalled"));
    }

    private String ask(String question) {
        process.send(question);
        String line = process.next(ANSWER);
        while (!line.startsWith(question)) {
            line = process.next(ANSWER); // that was a late answer to an earlier question
        }
        return line.substring(question.length()).strip();
    }

    @Override
    public List<String> quit() {
        List<String> left = new ArrayList<>();
        try {
            process.send("close");
            for (String line = process.next(ANSWER); line.startsWith("left "); line = process.next(ANSWER)) {
                left.add(line.substring("left ".length()));
            }
        } catch (ServerException e) {
            left.add("a process that does not close its client: " + e.getMessage());
        }
        return left;
    }

    @Override
    public void close() {
        process.close();
    }
}
