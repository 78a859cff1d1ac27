package dev.lockstep.etcd;

import dev.lockstep.LockClient;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of its own that holds many locks until it is killed. */
final class ManyLocks implements AutoCloseable {
    private static final String READY = "ready";

    private final Process process;

    private ManyLocks(Process process) {
        this.process = process;
    }

    /** Starts it, and waits until it holds all of them. */
    static ManyLocks hold(int count, String url, String namespace, Duration ttl) throws Exception {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ManyLocks.class.getName(),
                        Integer.toString(count),
                        url,
                        namespace,
                        ttl.toString()))
                .redirectErrorStream(true)
                .start();
        ManyLocks started = new ManyLocks(process);
        BufferedReader output = process.inputReader();
        StringBuilder said = new StringBuilder();
        String line;
        while ((line = output.readLine()) != null) {
            if (line.equals(READY)) {
                return started;
            }
            said.append(line).append('\n');
        }
        throw new IllegalStateException("The process has ended: " + said);
    }

    /** As a crash does. */
    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** The process. */
    public static void main(String[] args) throws Exception {
        LockClient client = LockClient.builder()
                .url(args[1])
                .namespace(args[2])
                .ttl(Duration.parse(args[3]))
                .requestTimeout(Duration.ofSeconds(20))
                .connect();
        EtcdGrowthTest.hold(client, Integer.parseInt(args[0]));
        System.out.println(READY);
        TimeUnit.DAYS.sleep(1); // until it is killed
    }
}
