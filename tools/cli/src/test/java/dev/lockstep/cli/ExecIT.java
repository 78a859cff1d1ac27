package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockOptions;
import dev.lockstep.cli.Launched.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code exec}, as processes that share a SQLite file. */
@Timeout(180)
class ExecIT {
    @TempDir
    private Path folder;

    private String url = "";

    @BeforeEach
    void chooseFile() {
        url = "jdbc:sqlite:" + folder.resolve("locks.db");
    }

    private Launched start(String... args) throws IOException {
        return Launched.start(folder, Map.of("LOCKSTEP_URL", url), args);
    }

    private Launched shell(String script) throws IOException {
        return Launched.shell(folder, Map.of("LOCKSTEP_URL", url), script);
    }

    private Run run(String... args) throws IOException, InterruptedException {
        try (Launched launched = start(args)) {
            return launched.end();
        }
    }

    @Test
    void namespaceCanComeFromTheEnvironment() throws Exception {
        String script = "LOCKSTEP_NAMESPACE=shop $LOCKSTEP exec job:1 -- $LOCKSTEP ls --namespace shop --json";
        try (Launched launched = shell(script)) {
            assertThat(launched.end().out()).contains("job:1");
        }
    }

    @Test
    void commandGetsNameTokenStreamsAndItsCodeIsTheEnd() throws Exception {
        try (Launched launched = shell("echo from stdin | $LOCKSTEP exec job:1 -- sh -c"
                + " 'cat; echo $LOCKSTEP_NAME $LOCKSTEP_TOKEN; echo oops >&2; exit 7'")) {
            Run run = launched.end();
            assertThat(run.out().lines().toList())
                    .hasSize(2)
                    .satisfies(lines -> assertThat(lines.get(0)).isEqualTo("from stdin"))
                    .satisfies(lines -> assertThat(lines.get(1)).matches("job:1 \\d+"));
            assertThat(run.err()).isEqualTo("oops\n");
            assertThat(run.code()).isEqualTo(7);
        }
    }

    /** The launcher gives Java a UTF-8 locale, which changes how commands sort and print. */
    @Test
    void commandGetsTheLocaleOfTheCaller() throws Exception {
        String shown = "'echo ${LC_ALL-none}'";
        for (String caller : List.of("env LC_ALL=C", "env -u LC_CTYPE -u LANG -u LC_ALL", "env LC_ALL=C.UTF-8")) {
            String expected = caller.contains("=") ? caller.substring(caller.indexOf('=') + 1) : "none";
            try (Launched launched = shell(caller + " $LOCKSTEP exec job:1 -- sh -c " + shown)) {
                assertThat(launched.end().out()).as(caller).isEqualTo(expected + "\n");
            }
        }
    }

    @Test
    void argumentsAfterTheDashesAreTheCommands() throws Exception {
        Run run = run("exec", "job", "--", "printf", "%s|", "--try", "--", "-x");
        assertThat(run.out()).isEqualTo("--try|--|-x|");
    }

    @Test
    void twoAtOnceExcludeEachOther() throws Exception {
        Path log = folder.resolve("log");
        String command = "echo in >> " + log + "; sleep 0.3; echo out >> " + log;
        try (Launched one = start("exec", "job", "--", "sh", "-c", command);
                Launched two = start("exec", "--fair", "job", "--", "sh", "-c", command)) {
            assertThat(one.end().code()).isZero();
            assertThat(two.end().code()).isZero();
        }
        assertThat(Files.readAllLines(log)).containsExactly("in", "out", "in", "out");
    }

    @Test
    void fairOnesRunInTheOrderInWhichTheyCame() throws Exception {
        Path log = folder.resolve("log");
        List<Launched> waiting = new ArrayList<>();
        try (LockClient client = LockClient.connect(url)) {
            Lease lease = client.lock("job", LockOptions.defaults().fair()).acquire();
            for (String who : List.of("first", "second", "third")) {
                waiting.add(start("exec", "--fair", "job", "--", "sh", "-c", "echo " + who + " >> " + log));
                while (client.inspect("job").waiters().size() < waiting.size()) {
                    Thread.onSpinWait();
                }
            }
            lease.close();
            for (Launched each : waiting) {
                assertThat(each.end().code()).isZero();
            }
            assertThat(Files.readAllLines(log)).containsExactly("first", "second", "third");
        } finally {
            waiting.forEach(Launched::close);
        }
    }

    @Test
    void permitsLetSoManyRunAtOnce() throws Exception {
        String[] holding = {"exec", "--permits", "2", "job", "--", "sh", "-c", "echo $LOCKSTEP_SLOT; cat"};
        try (Launched one = start(holding);
                Launched two = start(holding)) {
            assertThat(List.of(one.line(), two.line())).containsExactlyInAnyOrder("0", "1");
            assertThat(run("exec", "--permits", "2", "--try", "job", "--", "true")
                            .code())
                    .isEqualTo(ExitCodes.BUSY);
            assertThat(run("exec", "--permits", "3", "--try", "job", "--", "true")
                            .err())
                    .contains("job")
                    .hasLineCount(1);
        }
        assertThat(run("exec", "--permits", "2", "--shared", "job", "--", "true")
                        .code())
                .isEqualTo(ExitCodes.USAGE);
    }

    @Test
    void readersRunTogether() throws Exception {
        try (Launched one = start("exec", "--shared", "job", "--", "sh", "-c", "echo in; cat")) {
            assertThat(one.line()).isEqualTo("in");
            assertThat(run("exec", "--shared", "--try", "job", "--", "echo", "also")
                            .out())
                    .isEqualTo("also\n");
            assertThat(run("exec", "--try", "job", "--", "true").code()).isEqualTo(ExitCodes.BUSY);
        }
    }

    @Nested
    class WhileAnotherHoldsIt {
        @Test
        void tryAndBoundedWaitSayWhoHoldsIt() throws Exception {
            try (LockClient client =
                            LockClient.builder().url(url).clientName("holder 1").connect();
                    Lease lease = client.lock("job").acquire()) {
                for (String[] how : new String[][] {{"--try"}, {"--wait=2"}}) {
                    Run run = run("exec", how[0], "job", "--", "echo", "no");
                    assertThat(run.code()).isEqualTo(ExitCodes.BUSY);
                    assertThat(run.out()).isEmpty();
                    assertThat(run.err()).contains("holder 1").hasLineCount(1);
                }
                assertThat(lease.isValid()).isTrue();
            }
        }

        @Test
        void interruptEndsTheWaitAndLeavesNothing() throws Exception {
            try (LockClient client = LockClient.connect(url);
                    Lease lease = client.lock("job").acquire();
                    Launched waiting = start("exec", "job", "--", "echo", "no")) {
                awaitWaiter(client);
                waiting.signal("INT");
                Run run = waiting.end();
                assertThat(run.code()).isEqualTo(130);
                assertThat(run.out()).isEmpty();
                assertThat(run.err()).isEmpty();
                LockInfo after = client.inspect("job");
                assertThat(after.waiters()).isEmpty();
                assertThat(after.holders()).hasSize(1);
                assertThat(lease.isValid()).isTrue();
            }
        }

        private void awaitWaiter(LockClient client) {
            while (client.inspect("job").waiters().isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }

    @Nested
    class WhileItHolds {
        @Test
        void signalsArePassedOn() throws Exception {
            String command = "trap 'echo got TERM; exit 9' TERM; trap 'echo got USR1' USR1; echo ready;"
                    + " while :; do sleep 0.1; done";
            try (Launched launched = start("exec", "job", "--", "sh", "-c", command)) {
                assertThat(launched.line()).isEqualTo("ready");
                launched.signal("USR1");
                assertThat(launched.line()).isEqualTo("got USR1");
                launched.signal("TERM");
                assertThat(launched.line()).isEqualTo("got TERM");
                assertThat(launched.end().code()).isEqualTo(9);
            }
            try (LockClient client = LockClient.connect(url)) {
                assertThat(client.inspect("job").holders()).isEmpty();
            }
        }

        @Test
        void aCommandEndedByASignalHasItsExitCode() throws Exception {
            assertThat(run("exec", "job", "--", "sh", "-c", "kill -KILL $$").code())
                    .isEqualTo(137);
        }

        @Test
        void killedHolderFreesTheLockWithinTheTtl() throws Exception {
            try (LockClient client = LockClient.connect(url);
                    Launched holder = start("exec", "--ttl", "10", "job", "--", "sh", "-c", "echo in; cat")) {
                assertThat(holder.line()).isEqualTo("in");
                assertThat(client.lock("job").tryAcquire()).isEmpty();
                holder.kill();
                Optional<Lease> next = client.lock("job").tryAcquire(Duration.ofSeconds(40));
                assertThat(next).isPresent();
                next.ifPresent(Lease::close);
            }
        }

        @Test
        void noFileIsLeftOfTheDriverWhicheverWayItEnds(@TempDir Path temporary) throws Exception {
            Map<String, String> variables =
                    Map.of("LOCKSTEP_URL", url, "JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + temporary);
            try (Launched holder = Launched.start(folder, variables, "exec", "job", "--", "sh", "-c", "echo in; cat")) {
                assertThat(holder.line()).isEqualTo("in");
                assertThat(temporary).isEmptyDirectory();
            }
        }

        @Test
        void lossIsSignalledToTheCommandAndIsTheExitCode() throws Exception {
            String command = "trap 'echo ended; exit 0' TERM; echo in; while :; do sleep 0.1; done";
            try (LockClient client = LockClient.connect(url);
                    Launched holder = start("exec", "--ttl", "10", "job", "--", "sh", "-c", command)) {
                assertThat(holder.line()).isEqualTo("in");
                assertThat(client.forceRelease("job")).isTrue();
                assertThat(holder.line()).isEqualTo("ended");
                Run run = holder.end();
                assertThat(run.code()).isEqualTo(ExitCodes.LOST);
                assertThat(run.err()).contains("lost").hasLineCount(1);
            }
        }

        @Test
        void aMinimumTimeOutlivesTheProcess() throws Exception {
            assertThat(run("exec", "--min-hold", "60", "short", "--", "true").code())
                    .isZero();
            assertThat(run("exec", "--try", "short", "--", "true").code()).isEqualTo(ExitCodes.BUSY);
        }

        @Test
        void deafCommandIsKilledAfterTheGrace() throws Exception {
            String command = "trap '' TERM; echo in; while :; do sleep 0.1; done";
            try (Launched holder =
                    start("exec", "--max-hold", "10", "--grace", "0.3", "job", "--", "sh", "-c", command)) {
                assertThat(holder.line()).isEqualTo("in");
                Run run = holder.end();
                assertThat(run.code()).isEqualTo(ExitCodes.LOST);
                assertThat(run.err()).contains("its maximum time was reached");
            }
        }
    }

    @Nested
    class BadInput {
        @Test
        void isOneLineAndAnExitCode() throws Exception {
            Path notExecutable = Files.writeString(folder.resolve("data"), "x");
            assertRefused(ExitCodes.NOT_FOUND, "not found", run("exec", "job", "--", "no-such-command"));
            assertRefused(ExitCodes.NOT_FOUND, "not found", run("exec", "job", "--", "./nothing"));
            assertRefused(ExitCodes.NOT_EXECUTABLE, "executed", run("exec", "job", "--", notExecutable.toString()));
            assertRefused(ExitCodes.NOT_EXECUTABLE, "executed", run("exec", "job", "--", folder.toString()));
            assertRefused(ExitCodes.USAGE, "COMMAND", run("exec", "job"));
            assertRefused(ExitCodes.USAGE, "NAME", run("exec"));
            assertRefused(
                    ExitCodes.USAGE, "cannot be combined", run("exec", "--try", "--wait", "1", "job", "--", "true"));
            assertRefused(ExitCodes.USAGE, "seconds", run("exec", "--wait", "soon", "job", "--", "true"));
            assertRefused(ExitCodes.USAGE, "name", run("exec", "", "--", "true"));
        }

        private void assertRefused(int code, String word, Run run) {
            assertThat(run.code()).as(run.err()).isEqualTo(code);
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).startsWith("lockstep: ").contains(word).hasLineCount(1);
        }
    }
}
