package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real command, as a process, through the launcher at the root. */
class LauncherIT {
    private static final Path LAUNCHER =
            Path.of("../../lockstep").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    private record Run(int code, String out, String err, long millis) {}

    @Test
    @Tag("full")
    void startsFast() throws Exception {
        Run fastest = launch("--version");
        long bare = bareStartMillis();
        for (int i = 0; i < 4; i++) { // in turn, so that both meet the same load
            Run run = launch("--version");
            fastest = run.millis() < fastest.millis() ? run : fastest;
            bare = Math.min(bare, bareStartMillis());
        }
        assertThat(fastest.code()).isZero();
        assertThat(fastest.out()).startsWith("lockstep ");
        // On a machine that is slow or busy, by what a bare JVM takes to start there.
        assertThat(fastest.millis()).isLessThan(Math.max(700, 8 * bare));
    }

    private static long bareStartMillis() throws IOException, InterruptedException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        long start = System.nanoTime();
        Process process = new ProcessBuilder(java, "-Xshare:auto", "-version")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return (System.nanoTime() - start) / 1_000_000;
    }

    @Test
    void worksFromAnyFolderWithUnicodeNamesAndNoLocale() throws Exception {
        String name = "заказ/订单";
        StringBuilder octal =
                new StringBuilder(); // this JVM, too, may have a locale in which it cannot pass such a name on
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            octal.append(String.format("\\0%03o", b & 0xff));
        }
        String script = "exec bash \"$LOCKSTEP\" inspect --url memory: --json \"$(printf '%b' \"$NAME\")\"";
        try (Launched launched = Launched.shell(folder, Map.of("LC_ALL", "C", "NAME", octal.toString()), script)) {
            Launched.Run run = launched.end();
            assertThat(run.err()).isEmpty();
            assertThat(run.out()).contains("\"name\":\"" + name + "\"");
        }
    }

    @Test
    void errorIsOneLineAndAnExitCode() throws Exception {
        Run run = launch("ping", "nosuchengine://localhost");
        assertThat(run.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).hasSize(1);
    }

    @Test
    void urlComesFromTheEnvironment() throws Exception {
        Run run = launch(List.of("ping", "--json"), "LOCKSTEP_URL", "memory:");
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).startsWith("{\"engine\":\"memory\"");
    }

    private Run launch(String... args) throws IOException, InterruptedException {
        return launch(List.of(args), "LC_ALL", "C");
    }

    private Run launch(List<String> args, String variable, String value) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("bash", LAUNCHER.toString()));
        command.addAll(args);
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("LOCKSTEP_BUILD", "never");
        builder.environment().put(variable, value);
        long start = System.nanoTime();
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        long millis = (System.nanoTime() - start) / 1_000_000;
        return new Run(
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8),
                millis);
    }
}
