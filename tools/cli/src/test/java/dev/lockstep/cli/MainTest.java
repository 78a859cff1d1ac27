package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command inside this JVM, on an engine that the tests share with it. */
class MainTest {
    private final String url = "memory:cli-" + UUID.randomUUID();

    /** What a run left behind. */
    private record Run(int code, String out, String err) {
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

    @ParameterizedTest
    @ValueSource(strings = {"", "ping", "ls", "inspect"})
    void helpIsEverywhereAndTellsExitCodes(String command) {
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
        void tellsEngineAndRoundTrip() {
            Run run = Run.of("ping", url);
            assertThat(run.err()).isEmpty();
            assertThat(run.code()).isZero();
            assertThat(run.out().lines().toList())
                    .hasSize(2)
                    .satisfies(lines -> assertThat(lines.get(1)).matches("memory +\\d+\\.\\d{3} ms .*5"));
        }

        @Test
        void speaksJson() {
            Run run = Run.of("ping", "--url", url, "--json", "-n", "3");
            assertThat(run.out())
                    .matches("\\{\"engine\":\"memory\",\"roundTripMillis\":"
                            + "\\{\"count\":3,\"min\":[0-9.E-]+,\"median\":[0-9.E-]+,\"max\":[0-9.E-]+}}\\R");
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
