package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command inside this JVM, on an engine that the tests share with it. */
class MainTest {
    private final String url = "memory:cli-" + UUID.randomUUID();

    /** The result of a run. */
    record Run(int code, String out, String err) {
        static Run of(String... args) {
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            int code = Main.run(new PrintWriter(out), new PrintWriter(err), args);
            return new Run(code, out.toString(), err.toString());
        }
    }

    @Test
    void versionNamesTheBuild() {
        Run run = Run.of("--version");
        assertThat(run.code()).isZero();
        assertThat(run.out()).matches("lockstep \\d+\\.\\d+\\S* \\(Java \\S+\\)\\R");
    }

    @Test
    void aManualPageDescribesArgumentsAndOptions() {
        CommandLine exec =
                Objects.requireNonNull(Main.commandLine().getSubcommands().get("exec"));
        assertThat(ShareFiles.manual(exec))
                .contains(
                        ".SH ARGUMENTS\n.TP\nNAME\nThe lock.\n.TP\nCOMMAND\nThe command to run, and its arguments.",
                        ".SH OPTIONS\n.TP\n",
                        "\n.TP\n\\-\\-wait SECONDS\nHow long to wait for the lock");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "demo",
                "exec",
                "ping",
                "ls",
                "inspect",
                "watch",
                "deadlocks",
                "console",
                "release",
                "bench",
                "explain",
                "completion"
            })
    void helpIsEverywhereAndListsExitCodes(String command) {
        Run run = command.isEmpty() ? Run.of("--help") : Run.of(command, "--help");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .startsWith("Usage: lockstep")
                .contains("Exit codes:")
                .contains("69");
        assertThat(run.err()).isEmpty();
    }

    @Nested
    class Ping {
        @Test
        void reportsEngineAndRoundTrip() {
            Run run = Run.of("ping", url);
            assertThat(run.err()).isEmpty();
            assertThat(run.code()).isZero();
            assertThat(run.out().lines().skip(1).findFirst().orElse(""))
                    .matches("memory +- +\\d+\\.\\d{3} ms .*5 +does not matter");
            assertThat(run.out())
                    .contains("What this set-up guarantees:\n- One holder at a time in this JVM")
                    .contains("What it does not:\n- Other processes are not excluded.")
                    .contains("send the token to the storage");
        }

        @Test
        void speaksJson() {
            Run run = Run.of("ping", "--url", url, "--json", "-n", "3");
            assertThat(run.out())
                    .matches("\\{\"engine\":\"memory\",\"product\":\"memory\",\"version\":\"\",\"roundTripMillis\":"
                            + "\\{\"count\":3,\"min\":[0-9.E-]+,\"median\":[0-9.E-]+,\"max\":[0-9.E-]+},"
                            + "\"guarantees\":\\[\"One .*\\.\"],\"limits\":\\[\"Other .*\\.\"]}\\R");
        }
    }

    @Nested
    class Deadlocks {
        @Test
        void withoutOneTheCommandSaysSo() {
            Run run = Run.of("deadlocks", "--url", url);
            assertThat(run.code()).isZero();
            assertThat(run.out()).startsWith("none:");
            assertThat(run.err()).isEmpty();
            assertThat(Run.of("deadlocks", "--url", url, "--json").out().strip())
                    .isEqualTo("{\"deadlocks\":[],\"waits\":[]}");
        }

        @Test
        void aDeadlockIsShownAndIsTheExitCode() throws Exception {
            try (LockClient client = LockClient.builder()
                    .url(url)
                    .clientName("shop")
                    .recordWaitsAfter(Duration.ofMillis(20))
                    .connect()) {
                CountDownLatch bothHold = new CountDownLatch(2);
                Thread one = holdAndWant(client, "order", "stock", bothHold);
                Thread two = holdAndWant(client, "stock", "order", bothHold);
                long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
                while (client.waitGraph().edges().size() < 2 && System.nanoTime() - end < 0) {
                    Thread.yield();
                }
                Run run = Run.of("deadlocks", "--url", url, "--interval", "0.1");
                Run json = Run.of("deadlocks", "--url", url, "--interval", "0.1", "--json");
                Run other = Run.of("deadlocks", "--url", url, "--namespace", "other");
                one.interrupt();
                one.join();
                two.join();
                assertThat(run.code()).isEqualTo(3);
                assertThat(run.out().lines().skip(1))
                        .hasSize(2)
                        .allMatch(line -> line.startsWith("1 ") && line.contains("shop") && line.endsWith("certain"));
                assertThat(json.code()).isEqualTo(3);
                assertThat(json.out()).startsWith("{\"deadlocks\":[[{").contains("\"waitsFor\":\"order\"");
                assertThat(other.code()).isZero();
                assertThat(other.out()).startsWith("none:");
                assertThat(other.err())
                        .contains("none in namespace 'other'", "in namespace 'lockstep' (see --namespace)");
            }
        }

        private Thread holdAndWant(LockClient client, String held, String wanted, CountDownLatch bothHold) {
            Thread thread = new Thread(() -> {
                client.lock(held).lock();
                try {
                    bothHold.countDown();
                    bothHold.await();
                    client.lock(wanted).lockInterruptibly();
                    client.lock(wanted).unlock();
                } catch (InterruptedException e) {
                    // The end of the deadlock.
                } finally {
                    client.lock(held).unlock();
                }
            });
            thread.start();
            return thread;
        }
    }

    @Nested
    class Inspect {
        @Test
        void freeLockIsFree() {
            assertThat(Run.of("inspect", "--url", url, "order:42").out()).startsWith("free");
            assertThat(Run.of("inspect", "--url", url, "order:42", "--json")
                            .out()
                            .strip())
                    .isEqualTo("{\"name\":\"order:42\",\"holders\":[],\"waiters\":[]}");
        }

        @Test
        void holderIsNamedAndItsTokenIsAString() throws InterruptedException {
            try (LockClient client = LockClient.builder()
                            .url(url)
                            .clientName("holder \"1\"")
                            .connect();
                    Lease lease = client.lock("order:42").acquire()) {
                assertThat(lease.isValid()).isTrue();
                assertThat(Run.of("inspect", "--url", url, "order:42").out())
                        .contains("holder  exclusive")
                        .contains("holder \"1\"");
                assertThat(Run.of("inspect", "--url", url, "--json", "order:42").out())
                        .containsPattern("\"token\":\"\\d+\"")
                        .contains("\"client\":\"holder \\\"1\\\"\"");
            }
        }

        @Test
        void theTimeThatIsLeftIsShown() throws InterruptedException {
            try (LockClient client = LockClient.connect(url);
                    Lease lease = client.lock("order:42").acquire()) {
                assertThat(lease.isValid()).isTrue();
                assertThat(Run.of("inspect", "--url", url, "order:42").out()).containsPattern(" \\d\\d\\.\\d s ");
                assertThat(Run.of("inspect", "--url", url, "--json", "order:42").out())
                        .containsPattern("\"remainingMillis\":\\d{5},");
                assertThat(Run.of("ls", "--url", url).out()).containsPattern(" \\d\\d\\.\\d s ");
                assertThat(Run.of("watch", "--url", url, "-n", "1").out()).containsPattern(" \\d\\d\\.\\d s ");
            }
        }
    }

    @Nested
    class Ls {
        @Test
        void listsHeldLocksByPrefix() throws InterruptedException {
            try (LockClient client = LockClient.connect(url);
                    Lease one = client.lock("order:1").acquire();
                    Lease two = client.lock("order:2").acquire();
                    Lease other = client.lock("job").acquire()) {
                assertThat(Run.of("ls", "--url", url, "order:").out().lines())
                        .hasSize(3)
                        .anyMatch(line -> line.startsWith("order:1 "))
                        .anyMatch(line -> line.startsWith("order:2 "));
                assertThat(Run.of("ls", "--url", url, "--json").out())
                        .contains("\"name\":\"job\"")
                        .contains("\"name\":\"order:1\"");
            }
        }

        @Test
        void namespaceIsAskedFor() throws InterruptedException {
            try (LockClient client =
                            LockClient.builder().url(url).namespace("shop").connect();
                    Lease lease = client.lock("order:1").acquire()) {
                assertThat(Run.of("ls", "--url", url).out()).doesNotContain("order:1");
                assertThat(Run.of("ls", "--url", url, "--namespace", "shop").out())
                        .contains("order:1");
            }
        }
    }

    @Nested
    class Watch {
        @Test
        void showsHolderAndWaitersInOrder() throws Exception {
            try (LockClient holder =
                            LockClient.builder().url(url).clientName("one").connect();
                    LockClient waiter =
                            LockClient.builder().url(url).clientName("two").connect();
                    Lease lease = holder.lock("job").acquire()) {
                CompletableFuture<Lease> waiting = waiter.lock("job").acquireAsync();
                String table = Run.of("watch", "--url", url, "-n", "2", "--interval", "0.01")
                        .out();
                assertThat(table.lines()).hasSize(4);
                assertThat(table).endsWith("lockstep.lock.active 1, lockstep.lock.waiting 1\n");
                assertThat(table).containsPattern("job +holder +exclusive +\\d+ +[0-9.]+ s +one ");
                assertThat(table).containsPattern("job +waiter 1 +exclusive +- +- +two ");
                assertThat(Run.of("watch", "--url", url, "-n", "1", "--json").out())
                        .contains("\"token\":\"");
                assertThat(lease.isValid()).isTrue();
                waiting.cancel(true);
            }
        }
    }

    @Nested
    class Release {
        @Test
        void releasesOnlyByForce() throws InterruptedException {
            try (LockClient client = LockClient.connect(url)) {
                Lease lease = client.lock("job").acquire();
                assertThat(Run.of("release", "--url", url, "job").err()).contains("--force");
                assertThat(Run.of("release", "--url", url, "--force", "job").err())
                        .contains("--yes");
                assertThat(client.inspect("job").holders()).hasSize(1);
                assertThat(Run.of("release", "--url", url, "--force", "--yes", "job")
                                .out()
                                .strip())
                        .isEqualTo("released");
                assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
                assertThat(Run.of("release", "--url", url, "--force", "--json", "job")
                                .out()
                                .strip())
                        .isEqualTo("{\"name\":\"job\",\"released\":false}");
            }
        }
    }

    @Test
    void benchReportsTimesAndDrawsThem() {
        Run run = Run.of("bench", "--url", url, "--seconds", "0.05", "--threads", "2");
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("free lock", "2 threads", "hand-off, from release to grant:", "####");
        // Whether two threads meet within 50 ms is up to the machine.
        assertThat(run.out()).containsPattern("(?m)^lockstep.lock.handoffs \\d+, .* 2 threads$");
        assertThat(Run.of("bench", "--url", url, "--seconds", "0.3", "--json").out())
                .containsPattern("\"hand-off\":\\{\"count\":[1-9]\\d*,");
    }

    @Test
    void completionKnowsTheCommands() {
        assertThat(Run.of("completion").out())
                .contains("complete -F _complete_lockstep")
                .contains("flash-sale")
                .doesNotContain("_picocli_lockstep_worker");
    }

    @Nested
    class BadInput {
        @Test
        void isOneLineWithoutStackTrace() {
            assertRefused("unknown", Run.of("unknown"));
            assertRefused("a command is missing", Run.of());
            assertRefused("nosuchengine", Run.of("ping", "nosuchengine://localhost"));
            assertRefused("URL", Run.of("ping", "not a url"));
            assertRefused("NAME", Run.of("inspect", "--url", url));
            assertRefused("name", Run.of("inspect", "--url", url, ""));
            assertRefused("name", Run.of("inspect", "--url", url, "a\tb"));
            assertRefused("--count", Run.of("ping", url, "-n", "0"));
            assertRefused("requestTimeout", Run.of("ping", url, "--timeout", "0"));
            assertRefused("--timeout", Run.of("ping", url, "--timeout", "soon"));
            assertRefused("--interval", Run.of("watch", "--url", url, "--interval", "0"));
            assertRefused("--threads", Run.of("bench", "--url", url, "--threads", "0"));
            assertRefused("--stock", Run.of("demo", "--stock", "-1"));
            assertRefused("--processes", Run.of("demo", "--kill", "--processes", "1"));
            assertRefused("--numbers", Run.of("demo", "order-numbers", "--numbers", "0"));
            assertRefused("NAME", Run.of("release", "--force", "--url", url));
            assertRefused("unknown engine 'oracle'", Run.of("explain", "oracle"));
            assertRefused("without TLS", Run.of("explain", "--url", "rediss://127.0.0.1:1"));
        }

        @Test
        void debugShowsTheStackTrace() {
            Run run = Run.of("ping", "--debug", "nosuchengine://localhost");
            assertThat(run.code()).isEqualTo(ExitCodes.USAGE);
            assertThat(run.err()).contains("LockConfigurationException").contains("\tat ");
        }

        private void assertRefused(String word, Run run) {
            assertThat(run.code()).as(run.err()).isEqualTo(ExitCodes.USAGE);
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).startsWith("lockstep: ").containsIgnoringCase(word);
            assertThat(run.err().lines()).hasSize(1);
        }
    }

    @Test
    void textForPeopleKeepsColumnsAndDropsControlCharacters() {
        StringWriter text = new StringWriter();
        TextTable table = new TextTable("A", "B");
        table.add("long\u001b[2J", 1);
        PrintWriter out = new PrintWriter(text);
        table.print(out);
        out.flush();
        assertThat(text.toString().lines()).containsExactly("A         B", "long?[2J  1");
    }

    @Test
    void jsonEscapesWhatItMust() {
        assertThat(Json.write(java.util.List.of("a\"b\\c\n", 1, true))).isEqualTo("[\"a\\\"b\\\\c\\u000a\",1,true]");
        assertThat(Pattern.compile("\\p{Cntrl}").matcher(Json.write("\u0001")).find())
                .isFalse();
    }
}
