package dev.lockstep.torture;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.LockClient;
import dev.lockstep.LockstepException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.logging.LogManager;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A worker in a process of its own. The first line of its input is the URL, which may carry a password, the second the
 * rest of what it must know; then come commands. It ends with its input, where it is.
 *
 * <pre>
 * go WILD      (no answer)
 * calls        "calls", and those that its threads are in
 * stalled      "stalled", and for how many nanoseconds it was paused
 * close        a line "left WHAT" for each thing left over, then "closed"
 * </pre>
 */
final class WorkerMain {
    /** Of all clients of a torture in processes of their own. */
    static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

    static final Duration LONGEST_BACKOFF = Duration.ofMillis(200);

    private static final String NAME = "worker-";

    /** As {@code ProcessRig.CONNECTIONS_END}: the threads that close connections end with the last of them. */
    private static final Duration THREADS_END = Duration.ofSeconds(20);

    private static final int MOST_FRAMES = 12;

    /** The threads of clients: the core's and the backends', and those of ZooKeeper's, etcd's and a pool's client. */
    private static final String OF_CLIENTS = "lockstep-.*|.*-SendThread\\(.*|.*-EventThread|grpc-.*|Hikari.*";

    /** The description of the client that all engines show. */
    private static final Pattern CLIENT = Pattern.compile("(?m)^client=" + NAME + "(\\d+)$");

    private WorkerMain() {}

    /** The settings of a worker beside the URL. */
    record Order(String namespace, int observerPort, Worker.Plan plan) {
        @Override
        public String toString() {
            return String.join(
                    " ",
                    namespace,
                    "" + observerPort,
                    "" + plan.client(),
                    "" + plan.threads(),
                    "" + plan.locks(),
                    "" + plan.ttl().toMillis(),
                    "" + plan.pause().toMillis(),
                    "" + plan.seed());
        }

        static Order parse(String line) {
            String[] words = line.split(" ");
            Settings settings = new Settings(
                    1, Integer.parseInt(words[3]), Integer.parseInt(words[4]), Duration.ZERO, Long.parseLong(words[7]));
            return new Order(
                    words[0],
                    Integer.parseInt(words[1]),
                    new Worker.Plan(
                            Integer.parseInt(words[2]),
                            settings,
                            Duration.ofMillis(Long.parseLong(words[5])),
                            Duration.ofMillis(Long.parseLong(words[6]))));
        }
    }

    private static String name(int client) {
        return NAME + client;
    }

    /** The number of the worker that wrote a text at the engine, as the key of its claim has it; empty if none did. */
    static OptionalInt clientIn(String text) {
        Matcher matcher = CLIENT.matcher(text);
        return matcher.find() ? OptionalInt.of(Integer.parseInt(matcher.group(1))) : OptionalInt.empty();
    }

    /** Connects as all clients of a torture do. */
    static LockClient connect(String url, String namespace, Duration ttl, String name) {
        return LockClient.builder()
                .url(url)
                .namespace(namespace)
                .ttl(ttl)
                .requestTimeout(REQUEST_TIMEOUT)
                .retryBackoff(Duration.ofMillis(10), LONGEST_BACKOFF)
                .clientName(name)
                .deadlocks(DeadlockPolicy.FAIL)
                .recordWaitsAfter(Worker.RECORD_WAITS_AFTER)
                .connect();
    }

    public static void main(String[] args) throws IOException {
        // Faults are what this is about: what clients log of them is no news.
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        LogManager.getLogManager().reset();
        Stalls.nanos(); // begins to measure
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            String url = in.readLine();
            Order order = Order.parse(in.readLine());
            Worker.Plan plan = order.plan();
            Worker worker = new Worker(
                    plan,
                    () -> connect(url, order.namespace(), plan.ttl(), name(plan.client())),
                    () -> new RemoteWitness(order.observerPort(), plan.client()));
            Stalls.listen(
                    Run.stallThatCounts(plan.ttl()), new RemoteWitness(order.observerPort(), plan.client())::stalled);
            System.out.println("ready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                perform(line.split(" "), worker);
            }
        } catch (LockstepException e) {
            System.err.println("A worker ended: " + e.getMessage());
        } catch (RuntimeException e) {
            e.printStackTrace();
        } finally {
            Runtime.getRuntime().halt(0);
        }
    }

    private static void perform(String[] words, Worker worker) {
        switch (words[0]) {
            case "go" -> worker.go(Worker.Pace.valueOf(words[1]));
            case "calls" -> System.out.println("calls " + worker.calls());
            case "stalled" -> System.out.println("stalled " + Stalls.nanos());
            case "close" -> {
                worker.close();
                threadsLeft(OF_CLIENTS).forEach(left -> System.out.println("left " + left));
                System.out.println("closed");
            }
            default -> throw new IllegalArgumentException(List.of(words).toString());
        }
    }

    /** The threads with some names that do not end, though those whose they were have closed. */
    static List<String> threadsLeft(String names) {
        return whatStays(() -> threads(names), THREADS_END);
    }

    /** What the last of several looks has found; nothing once one has found nothing, whatever may begin after it. */
    static List<String> whatStays(Supplier<List<String>> look, Duration patience) {
        List<String> seen = new ArrayList<>();
        Stalls.untilAwake(
                () -> {
                    seen.clear();
                    seen.addAll(look.get());
                    return seen.isEmpty();
                },
                patience);
        return seen;
    }

    /** With what they do, on one line: what keeps a thread is seldom found a second time. */
    private static List<String> threads(String names) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().matches(names))
                .map(thread -> "thread " + thread.getKey().getName()
                        + Arrays.stream(thread.getValue())
                                .limit(MOST_FRAMES)
                                .map(frame -> " < " + frame)
                                .collect(Collectors.joining()))
                .toList();
    }
}
