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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A release into a folder: the sources are copied, get a release's version, are built, and what would be published is put
 * into a Maven repository on disk. Not signed, and not uploaded.
 *
 * @param version the version of the release
 * @param repository the Maven repository
 */
record Rehearsal(String version, Path repository) {
    private static final Set<String> NOT_SOURCES = Set.of("target", ".git", "node_modules", ".idea", ".vscode");

    /** Builds in a folder, which is emptied first, with additions to the environment. */
    static Rehearsal in(Path folder, Map<String, String> environment) throws IOException, InterruptedException {
        delete(folder);
        Path sources = folder.resolve("sources");
        String version = Project.version().replace("-SNAPSHOT", "");
        copySources(Project.root(), sources, version);
        Path repository = folder.resolve("repository");
        List<String> command = new ArrayList<>(List.of(
                "mvn",
                "-B",
                "-q",
                "-Pfull",
                "-Dmaven.test.skip",
                "-Dspotless.check.skip",
                "-Dmaven.install.skip",
                "-DaltDeploymentRepository=staged::" + repository.toUri(),
                "-pl",
                String.join(",", Project.published()),
                "-am",
                "deploy"));
        run(sources, folder.resolve("build.log"), environment, command);
        return new Rehearsal(version, repository);
    }

    /** The files of an artifact, by name. */
    Map<String, Path> files(String artifactId) throws IOException {
        return files(repository.resolve("dev/lockstep/" + artifactId + "/" + version));
    }

    /** All files, by their paths in the repository. */
    Map<String, Path> files() throws IOException {
        return files(repository);
    }

    /** All but checksums, and the lists of versions, which hold the time of the upload. */
    private static Map<String, Path> files(Path folder) throws IOException {
        Map<String, Path> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().matches(".*\\.(md5|sha1|sha256|sha512)|.*maven-metadata.*"))
                    .forEach(file -> found.put(folder.relativize(file).toString(), file));
        }
        return found;
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

    private static void copySources(Path from, Path to, String version) throws IOException {
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
                if (file.endsWith("pom.xml")) {
                    Files.writeString(copy, Files.readString(file).replace(Project.version(), version));
                } else {
                    Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
                }
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
