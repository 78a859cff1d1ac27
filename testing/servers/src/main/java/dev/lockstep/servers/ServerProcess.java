package dev.lockstep.servers;

import dev.lockstep.temp.TempDirs;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/*
 * Overview. A server must not outlive the JVM that started it, not even if that JVM is killed with no chance to clean up.
 * So the server is started through a shell that first leaves a guard behind and then becomes the server (exec):
 *
 *      JVM ──pipe──▶ guard (a shell that waits for the pipe's end, then kills the server and its children)
 *       └── child: the server itself, so its pid, exit code and signals are the JVM's to see and give
 *
 * The JVM never writes to the pipe. The kernel closes it when the JVM ends, however it ends, and java.lang.Process closes
 * it when the server ends, which sends the guard home. (Linux's "parent death signal" is no alternative: it fires when
 * the *thread* that started the process ends.) The guard is nobody's child, so that pausing a server and its children
 * does not pause it. A shutdown hook only has to delete what is on the disk.
 */
/**
 * A server in a process of its own, with a folder of its own, on a loopback port that it keeps over restarts. It can be
 * paused, killed, stopped and started again, and does not outlive this JVM. Thread-safe.
 */
public abstract class ServerProcess implements AutoCloseable {
    /** The address that every server listens on. */
    public static final String HOST = "127.0.0.1";

    private static final String GUARDED = "exec 3<&0 </dev/null\n"
            + "( ( read -r _; read -r kids </proc/$$/task/$$/children; kill -9 $$ $kids )"
            + " <&3 3<&- >/dev/null 2>&1 & )\n"
            + "exec \"$@\" 3<&-\n";

    /** How long a server may take to end by itself before it is killed; none of them needs so long to write its data. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

    private static final long LOOK_MILLIS = 5;
    private static final int TAIL_BYTES = 4_000;
    private static final Set<ServerProcess> OPEN = ConcurrentHashMap.newKeySet();

    static {
        TempDirs.beforeDeletion(ServerProcess::killAll);
    }

    private final String name;
    private final int port;
    private final Duration startTimeout;
    private final Path directory;
    private final Path log;
    private volatile Map<String, String> environment = Map.of();
    private volatile @Nullable Process process;

    /**
     * A server that is not started yet.
     *
     * @param name what messages call it
     * @param port the loopback port it listens on
     * @param startTimeout how long it may take until it answers
     */
    ServerProcess(String name, int port, Duration startTimeout) {
        this.name = name;
        this.port = port;
        this.startTimeout = startTimeout;
        this.directory = TempDirs.create(name);
        this.log = directory.resolve(name + ".log");
    }

    /** Makes it run on a machine whose clock and disk a test can spoil, from the next start on. */
    final void runOn(HostFaults host) {
        environment = host.environment();
    }

    /** How it is started, asked before every start. */
    abstract Launch launch() throws IOException;

    /** Returns whether it serves clients; an exception means not yet. */
    abstract boolean isReady() throws IOException;

    /** The signal that makes it stop in an orderly way. */
    String stopSignal() {
        return "TERM";
    }

    /**
     * The port that it listens on.
     *
     * @return the port, the same after a restart
     */
    public final int port() {
        return port;
    }

    /**
     * Where it listens.
     *
     * @return {@code 127.0.0.1:port}
     */
    public final String address() {
        return HOST + ":" + port;
    }

    /**
     * Its folder, for data, configuration and log.
     *
     * @return a folder that exists until {@link #close}
     */
    public final Path directory() {
        return directory;
    }

    /**
     * The operating system's id of the running server.
     *
     * @return its pid
     * @throws ServerException if it does not run
     */
    public final long pid() {
        return running().pid();
    }

    /**
     * Returns whether the process exists, paused or not.
     *
     * @return whether it runs
     */
    public final boolean isAlive() {
        Process current = process;
        return current != null && current.isAlive();
    }

    /**
     * Starts it on its port and data, and waits until it serves clients. Does nothing if it runs.
     *
     * @throws ServerException if it ends or is not ready in time, with the end of its log
     */
    public final synchronized void start() {
        launchProcess();
        awaitReady();
    }

    /** Starts it and does not wait. */
    final synchronized void launchProcess() {
        if (isAlive()) {
            return;
        }
        OPEN.add(this);
        try {
            Launch launch = launch();
            List<String> command = new ArrayList<>(List.of("sh", "-c", GUARDED, "sh"));
            command.addAll(launch.commandLine());
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment().putAll(launch.environment());
            builder.environment().putAll(environment);
            process = builder.start();
        } catch (IOException e) {
            throw new ServerException("cannot start " + name, e);
        }
    }

    /** Waits until it serves clients, as {@link #start} does. */
    final synchronized void awaitReady() {
        Process started = Objects.requireNonNull(process, "not launched");
        long deadline = System.nanoTime() + startTimeout.toNanos();
        String last = "";
        while (!waitFor(started, LOOK_MILLIS)) {
            try {
                if (isReady()) {
                    return;
                }
            } catch (IOException | ServerException e) {
                last = " (" + e + ")";
            }
            if (System.nanoTime() - deadline >= 0) {
                kill();
                throw new ServerException(name + " was not ready within " + startTimeout + last + logTail());
            }
        }
        throw new ServerException(name + " ended with exit code " + started.exitValue() + logTail());
    }

    /** Starts a new server, or leaves nothing behind. */
    static <S extends ServerProcess> S started(S server) {
        startAll(List.of(server));
        return server;
    }

    /** Does the last steps of starting something, or closes it. */
    static void orClose(AutoCloseable resource, Runnable steps) {
        try {
            steps.run();
        } catch (RuntimeException | Error e) {
            try {
                resource.close();
            } catch (Exception f) {
                e.addSuppressed(f);
            }
            throw e;
        }
    }

    /** Starts new servers side by side, or leaves nothing behind. */
    static void startAll(List<? extends ServerProcess> servers) {
        orClose(new ServerGroup<>(servers), () -> {
            servers.forEach(ServerProcess::launchProcess);
            servers.forEach(ServerProcess::awaitReady);
        });
    }

    /** Stops the process and its children where they are (SIGSTOP); connections stay open, nothing answers. */
    public final synchronized void pause() {
        ProcessFamily.pause(running());
    }

    /** Continues a paused server (SIGCONT). */
    public final synchronized void resume() {
        ProcessFamily.of(running()).resume();
    }

    /** Kills the process and its children (SIGKILL): a crash. Its data stays as it is on the disk. */
    public final synchronized void kill() {
        killNow();
    }

    /** Stops it in an orderly way, by force if that takes too long. Its data stays. */
    public final synchronized void stop() {
        if (isAlive()) {
            Process current = running();
            ProcessFamily family = ProcessFamily.of(current);
            family.resume();
            family.ask(stopSignal());
            if (!waitFor(current, STOP_TIMEOUT.toMillis())) {
                kill();
            }
            family.kill(); // a child that its parent did not take along
        }
    }

    /** Stops it in an orderly way and starts it again on the same port and data. */
    public final synchronized void restart() {
        stop();
        start();
    }

    /** Kills it and deletes its folder. */
    @Override
    public synchronized void close() {
        kill();
        OPEN.remove(this);
        try {
            TempDirs.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete the folder of " + name, e);
        }
    }

    /**
     * The end of what it printed.
     *
     * @return the last lines, after a line that says whose they are
     */
    public final String logTail() {
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            long from = Math.max(0, file.length() - TAIL_BYTES);
            byte[] bytes = new byte[(int) (file.length() - from)];
            file.seek(from);
            file.readFully(bytes);
            return "\n--- end of the log of " + name + ":\n" + new String(bytes, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "\n--- no log of " + name + ": " + e;
        }
    }

    @Override
    public String toString() {
        return name + "@" + address();
    }

    /** Writes a file into its folder. */
    final Path write(String file, List<String> lines) {
        try {
            return Files.write(directory.resolve(file), lines);
        } catch (IOException e) {
            throw new ServerException("cannot configure " + this, e);
        }
    }

    private Process running() {
        Process current = process;
        if (current == null || !current.isAlive()) {
            throw new ServerException(name + " does not run");
        }
        return current;
    }

    /** A test that was interrupted, by its timeout say, still has to leave nothing behind. */
    private void killNow() {
        Process current = process;
        if (current == null) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        try {
            ProcessFamily family = ProcessFamily.of(current);
            family.kill();
            family.awaitEnd();
            waitFor(current, STOP_TIMEOUT.toMillis()); // it may be dead before this JVM knows
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean waitFor(Process process, long millis) {
        try {
            return process.waitFor(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new ServerException("interrupted while waiting for a server");
        }
    }

    /** Kills all that are open, at the end of this JVM. */
    private static void killAll() {
        OPEN.forEach(ServerProcess::killNow); // without the lock: a start may be waiting under it
    }
}
