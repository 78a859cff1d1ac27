package dev.lockstep.tck;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.Term;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;

/** The program of a {@link SecondProcess}: reads requests, answers them, and ends with its input. */
final class SecondProcessMain {
    /** Names the environment variable with the {@link DeadlockPolicy}. */
    static final String DEADLOCKS = "LOCKSTEP_TCK_DEADLOCKS";

    private final LockClient client;
    private final Map<String, Lease> leases = new HashMap<>();

    private SecondProcessMain(LockClient client) {
        this.client = client;
    }

    public static void main(String[] args) throws IOException {
        // Answers alone go to the real standard output; what others print must not be taken for one.
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String url = requests.readLine();
        String namespace = requests.readLine();
        Duration ttl = Duration.ofMillis(Long.parseLong(requests.readLine()));
        try (LockClient client = LockClient.builder()
                .url(url)
                .namespace(namespace)
                .ttl(ttl)
                .requestTimeout(Bench.PATIENCE) // a JVM that has just begun is slow, the more so beside others
                .clientName("second-process")
                .releaseOnShutdown()
                .deadlocks(DeadlockPolicy.valueOf(System.getenv().getOrDefault(DEADLOCKS, "REPORT")))
                .connect()) {
            SecondProcessMain worker = new SecondProcessMain(client);
            answers.println("ok");
            for (String request = requests.readLine(); request != null; request = requests.readLine()) {
                answers.println(worker.answer(request.split(" ")));
            }
        }
    }

    private String answer(String[] request) {
        try {
            return switch (request[0]) {
                case "ping" -> "ok";
                case "temporary" ->
                    Files.createTempFile("second-process", ".tmp").toString();
                case "exit" -> {
                    System.exit(0);
                    yield "ok";
                }
                case "acquire" -> hold(request[1], client.lock(request[1]).acquire());
                case "fair" ->
                    hold(
                            request[1],
                            client.lock(request[1], LockOptions.defaults().fair())
                                    .acquire());
                case "elect" -> elect(request[1]);
                case "permits" -> permits(request[1], Integer.parseInt(request[2]), Integer.parseInt(request[3]));
                case "try" ->
                    client.lock(request[1])
                            .tryAcquire()
                            .map(lease -> hold(request[1], lease))
                            .orElse("busy");
                case "token" -> Long.toString(lease(request[1]).token());
                case "valid" -> Boolean.toString(lease(request[1]).isValid());
                case "release" -> release(request[1]);
                case "write" -> write(request[1], Path.of(request[2]));
                case "sell" -> sell(request[1], Path.of(request[2]), Duration.ofMillis(Long.parseLong(request[3])));
                case "count" -> count(request[1], Path.of(request[2]), Integer.parseInt(request[3]));
                default -> "error unknown request " + request[0];
            };
        } catch (Exception e) {
            return "error " + e.getClass().getSimpleName();
        }
    }

    private String hold(String name, Lease lease) {
        leases.put(name, lease);
        return "ok";
    }

    /** Leads until the end of the process. */
    private String elect(String name) throws InterruptedException {
        BlockingQueue<Term> terms = new ArrayBlockingQueue<>(1);
        client.election(name, "second process", term -> {
            terms.add(term);
            new CountDownLatch(1).await();
        });
        return hold(name, terms.take());
    }

    /** Acquires some of the permits that there are. */
    private String permits(String name, int count, int permits) throws InterruptedException {
        return hold(name, client.semaphore(name, permits).acquire(count));
    }

    private Lease lease(String name) {
        Lease lease = leases.get(name);
        if (lease == null) {
            throw new IllegalArgumentException("not held: " + name);
        }
        return lease;
    }

    private String release(String name) {
        Lease lease = lease(name);
        leases.remove(name);
        lease.close();
        return "ok";
    }

    /** Writes with the token of what it held, without a look whether it still does. */
    private String write(String name, Path file) throws IOException {
        new GuardedFile(file).increment(lease(name).token());
        return "ok";
    }

    /** Sells one, and keeps holding the lock for a while before it has the result. */
    private String sell(String name, Path file, Duration after) throws Exception {
        return client.template().fenced().execute(name, lease -> {
            new GuardedFile(file).increment(lease.token());
            Bench.letPass(after);
            return "sold";
        });
    }

    private String count(String name, Path file, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            try (Lease lease = client.lock(name).acquire()) {
                new GuardedFile(file).increment(lease.token());
            }
        }
        return "ok";
    }
}
