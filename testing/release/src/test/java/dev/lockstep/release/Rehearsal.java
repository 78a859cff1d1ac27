package dev.lockstep.release;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A release into a folder: the sources are copied, get an address and a release's version, and are built, signed and
 * uploaded by the command of a release, without the tests. The {@link Portal} that gets the upload is on this machine: it
 * unpacks what would be published into a Maven repository on disk.
 *
 * @param version the version of the release
 * @param repository the Maven repository
 * @param uploads the parameters of each upload
 */
record Rehearsal(String version, Path repository, List<String> uploads) {
    /** The command of a release, the same in tools/release/release. */
    static final List<String> DEPLOY = List.of("mvn", "--batch-mode", "-T1", "deploy", "-Prelease");

    private static final String HOME = "https://example.org/lockstep";
    private static final Set<String> NOT_SOURCES = Set.of("target", ".git", "node_modules", ".idea", ".vscode");

    /** Builds in a folder, which is emptied first, with additions to the environment. */
    static Rehearsal in(Path folder, Map<String, String> environment) throws IOException, InterruptedException {
        delete(folder);
        Path sources = folder.resolve("sources");
        String version = Project.version().replace("-SNAPSHOT", "");
        copySources(Project.root(), sources);
        run(
                sources,
                folder.resolve("prepare.log"),
                environment,
                List.of("tools/release/release", "--prepare", version, "2026-01-02"));
        for (String pom : List.of("pom.xml", "bom/pom.xml")) {
            Path file = sources.resolve(pom);
            Files.writeString(
                    file, Files.readString(file).replaceFirst("<release\\.home>.*<", "<release.home>" + HOME + "<"));
        }
        Path settings = Files.writeString(
                folder.resolve("settings.xml"),
                "<settings><servers><server><id>central</id><username>name</username><password>token</password>"
                        + "</server></servers></settings>");
        Path repository = folder.resolve("repository");
        try (Portal portal = new Portal(repository)) {
            List<String> command = new ArrayList<>(DEPLOY);
            command.addAll(List.of(
                    "-q",
                    "-gs",
                    settings.toString(),
                    "-DcentralBaseUrl=" + portal.url(),
                    "-Dmaven.test.skip",
                    "-Dspotless.check.skip",
                    "-Dmaven.install.skip"));
            run(sources, folder.resolve("build.log"), environment, command);
            return new Rehearsal(version, repository, List.copyOf(portal.uploads()));
        }
    }

    /** The files of an artifact, by name. */
    Map<String, Path> files(String artifactId) throws IOException {
        return files(repository.resolve("dev/lockstep/" + artifactId + "/" + version));
    }

    /** All files, by their paths in the repository. */
    Map<String, Path> files() throws IOException {
        return files(repository);
    }

    /** All files except checksums, signatures, and the lists of versions, which hold the time of the upload. */
    private static Map<String, Path> files(Path folder) throws IOException {
        Map<String, Path> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().matches(".*\\.(asc|md5|sha1|sha256|sha512)|.*maven-metadata.*"))
                    .forEach(file -> found.put(folder.relativize(file).toString(), file));
        }
        return found;
    }

    /** Makes a key without a passphrase, in a folder of its own. */
    static Map<String, String> key(Path folder) throws IOException, InterruptedException {
        delete(folder);
        Files.createDirectories(folder);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        Map<String, String> environment = Map.of("GNUPGHOME", folder.toString());
        run(
                folder,
                folder.resolve("key.log"),
                environment,
                List.of("gpg", "--batch", "--passphrase", "", "--quick-gen-key", "rehearsal", "default", "sign", "1d"));
        return environment;
    }

    /** Runs a command and returns its output; fails with it if the command does. */
    static String run(Path folder, Path log, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(20, TimeUnit.MINUTES)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new AssertionError("No end of " + command + ": see " + log);
        }
        String output = Files.readString(log);
        if (process.exitValue() != 0) {
            throw new AssertionError(
                    command + " in " + folder + " failed:\n" + output.substring(Math.max(0, output.length() - 8_000)));
        }
        return output;
    }

    static void copySources(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes unused) throws IOException {
                if (NOT_SOURCES.contains(folder.getFileName().toString())) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(to.resolve(from.relativize(folder)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes unused) throws IOException {
                Path copy = to.resolve(from.relativize(file));
                Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> paths;
        try (Stream<Path> walk = Files.walk(folder)) {
            paths = new ArrayList<>(walk.toList());
        }
        for (int i = paths.size() - 1; i >= 0; i--) {
            Files.delete(paths.get(i));
        }
    }
}
