package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Leader;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.Permit;
import dev.lockstep.cli.Launched.Run;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code elect}, as processes that share a SQLite file or a server. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a read of a pipe ignores interrupts
class ElectIT {
    private static final String UNTIL_TERM =
            "trap 'echo ended; exit 0' TERM; echo leads $LOCKSTEP_NAME $LOCKSTEP_TOKEN; while :; do sleep 0.1; done";

    /** Ends after the second signal: it takes its time to clean up. */
    private static final String UNTIL_SECOND_TERM = "n=0; trap 'n=$((n+1)); echo signal $n' TERM;"
            + " echo leads $LOCKSTEP_NAME $LOCKSTEP_TOKEN; while [ $n -lt 2 ]; do sleep 0.1; done";

    @TempDir
    private Path folder;

    private String url = "";

    @BeforeEach
    void chooseFile() {
        url = "jdbc:sqlite:" + folder.resolve("locks.db");
    }

    private Launched elect(String... args) throws IOException {
        String[] all = new String[args.length + 1];
        all[0] = "elect";
        System.arraycopy(args, 0, all, 1, args.length);
        return Launched.start(folder, Map.of("LOCKSTEP_URL", url), all);
    }

    private static long term(String line) {
        assertThat(line).matches("leads sync \\d+");
        return Long.parseLong(line.substring("leads sync ".length()));
    }

    /** Asks now and then: a file that is read all the time leaves its writers little. */
    private static void awaitStandby(LockClient client, Launched candidate) throws Exception {
        while (client.inspect("sync").waiters().isEmpty()) {
            if (!candidate.isAlive()) {
                throw new AssertionError("it does not stand by: " + candidate.end());
            }
            Thread.sleep(20);
        }
    }

    @Test
    void oneLeadsTheOtherTakesOverAndTheCommandsCodeIsTheEnd() throws Exception {
        try (LockClient client = LockClient.connect(url);
                Launched first = elect("--payload", "10.0.0.1", "sync", "--", "sh", "-c", UNTIL_TERM)) {
            long term = term(first.line());
            assertThat(client.leader("sync").orElseThrow().payload()).isEqualTo("10.0.0.1");
            assertThat(client.leader("sync").map(Leader::term)).contains(term);
            try (Launched second =
                    elect("sync", "--", "sh", "-c", "echo leads $LOCKSTEP_NAME $LOCKSTEP_TOKEN; exit 7")) {
                awaitStandby(client, second);
                first.signal("TERM");
                assertThat(first.line()).isEqualTo("ended");
                assertThat(first.end().code()).isZero();
                assertThat(term(second.line())).isGreaterThan(term);
                assertThat(second.end().code()).isEqualTo(7);
            }
            assertThat(client.leader("sync")).isEmpty();
        }
    }

    @Test
    void lossSendsTermAndTheProcessStandsByAgain() throws Exception {
        try (LockClient client = LockClient.connect(url);
                Launched first = elect("--ttl", "10", "sync", "--", "sh", "-c", UNTIL_TERM)) {
            long term = term(first.line());
            assertThat(client.forceRelease("sync")).isTrue();
            assertThat(first.line()).isEqualTo("ended");
            assertThat(term(first.line())).isGreaterThan(term);
            first.signal("TERM");
            Run run = first.end();
            assertThat(run.code()).isZero();
            assertThat(run.err()).contains("lost").hasLineCount(1);
        }
    }

    @Test
    void aSignalWhileTheCommandCleansUpAfterALossEndsTheProcess() throws Exception {
        try (LockClient client = LockClient.connect(url);
                Launched first = elect("--ttl", "10", "--grace", "100", "sync", "--", "sh", "-c", UNTIL_SECOND_TERM)) {
            term(first.line());
            assertThat(client.forceRelease("sync")).isTrue();
            assertThat(first.line()).isEqualTo("signal 1");
            first.signal("TERM");
            assertThat(first.line()).isEqualTo("signal 2");
            assertEndsWithoutAnotherTerm(first);
        }
    }

    @Test
    void aLossWhileTheCommandCleansUpAfterASignalEndsTheProcess() throws Exception {
        try (LockClient client = LockClient.connect(url);
                Launched first = elect("--ttl", "10", "--grace", "100", "sync", "--", "sh", "-c", UNTIL_SECOND_TERM)) {
            term(first.line());
            first.signal("TERM");
            assertThat(first.line()).isEqualTo("signal 1");
            assertThat(client.forceRelease("sync")).isTrue();
            assertThat(first.line()).isEqualTo("signal 2");
            assertEndsWithoutAnotherTerm(first);
        }
    }

    private static void assertEndsWithoutAnotherTerm(Launched candidate) throws Exception {
        assertThat(candidate.line()).as("the next line of the command").isEqualTo("null");
        Run run = candidate.end();
        assertThat(run.code()).isEqualTo(143);
        assertThat(run.err()).contains("lost").hasLineCount(1);
    }

    @Test
    void aSignalEndsTheWaitAndLeavesNothing() throws Exception {
        try (LockClient client = LockClient.connect(url);
                var lease = client.lock("sync").acquire();
                Launched waiting = elect("sync", "--", "echo", "no")) {
            awaitStandby(client, waiting);
            waiting.signal("TERM");
            Run run = waiting.end();
            assertThat(run.code()).isEqualTo(143);
            assertThat(run.out()).isEmpty();
            assertThat(client.inspect("sync").waiters()).isEmpty();
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void aNameThatIsASemaphoreIsRefused() throws Exception {
        try (LockClient client = LockClient.connect(url);
                Permit permit = client.semaphore("sync", 2).acquire();
                Launched refused = elect("sync", "--", "echo", "no")) {
            Run run = refused.end();
            assertThat(run.code()).isEqualTo(ExitCodes.USAGE);
            assertThat(run.out()).isEmpty();
            assertThat(run.err())
                    .contains("'sync'", "a semaphore with 2 permits")
                    .hasLineCount(1);
            assertThat(permit.isValid()).isTrue();
        }
    }

    /** Nothing else says why nobody leads. */
    @Test
    void anUnreachableEngineIsReportedOnceAndTheProcessTriesAgain() throws Exception {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            url = redis.url();
            // Its ttl is much longer than the engine is away.
            try (LockClient client =
                    LockClient.builder().url(url).ttl(Duration.ofMinutes(2)).connect()) {
                Lease lease = client.lock("sync").acquire();
                try (Launched waiting = elect("--timeout", "10", "sync", "--", "sh", "-c", UNTIL_TERM)) {
                    awaitStandby(client, waiting);
                    redis.pause();
                    awaitReport("cannot stand in the election 'sync'");
                    redis.resume();
                    awaitStandby(client, waiting);
                    lease.close();
                    term(waiting.line());
                    waiting.signal("TERM");
                    Run run = waiting.end();
                    assertThat(run.code()).isZero();
                    assertThat(run.err()).hasLineCount(1);
                }
            }
        }
    }

    private void awaitReport(String words) throws Exception {
        Path err;
        try (Stream<Path> files = Files.list(folder)) {
            err = files.filter(file -> file.getFileName().toString().startsWith("err"))
                    .findAny()
                    .orElseThrow();
        }
        while (!Files.readString(err).contains(words)) {
            Thread.sleep(20);
        }
    }

    @Test
    void badInputIsOneLineAndAnExitCode() throws Exception {
        try (Launched missing = elect("sync", "--", "no-such-command");
                Launched tooLong = elect("--payload", "x".repeat(101), "sync", "--", "true")) {
            assertThat(missing.end().code()).isEqualTo(ExitCodes.NOT_FOUND);
            Run run = tooLong.end();
            assertThat(run.code()).isEqualTo(ExitCodes.USAGE);
            assertThat(run.err()).startsWith("lockstep: ").contains("payload").hasLineCount(1);
        }
    }
}
