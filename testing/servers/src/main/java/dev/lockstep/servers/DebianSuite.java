package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/*
 * Overview. Programs of another suite need that suite's C library, which this machine does not have. So:
 *   1. apt gets package lists of that suite alone, from the mirror that this machine uses, and thinks that nothing is
 *      installed: it then names every library that a package needs;
 *   2. in the unpacked folder, a script takes the place of each program and starts it with the loader and the libraries
 *      of that folder. LD_LIBRARY_PATH would not do: this machine's shell cannot run with that C library.
 * A program keeps the path of its script as its name (--argv0), by which some find the files and programs next to them.
 */
/** Another suite of Debian than the one that this machine runs, such as {@code sid}, for newer servers. */
final class DebianSuite {
    private static final List<String> KEYRINGS =
            List.of("/usr/share/keyrings/debian-archive-keyring.pgp", "/usr/share/keyrings/debian-archive-keyring.gpg");
    private static final String LOADER = "ld-linux";
    private static final int HEADER_BYTES = 4_096;

    private DebianSuite() {}

    /** Fetches the package lists of a suite into a folder, and returns the options with which apt uses nothing else. */
    static List<String> options(String suite, Path folder) throws IOException {
        Files.createDirectories(folder.resolve("lists").resolve("partial"));
        Files.createDirectories(folder.resolve("cache").resolve("archives").resolve("partial"));
        String keys = KEYRINGS.stream()
                .filter(file -> Files.exists(Path.of(file)))
                .findFirst()
                .map(file -> "[signed-by=" + file + "] ")
                .orElse("");
        Path sources = folder.resolve("sources.list");
        Files.writeString(sources, "deb " + keys + mirror(folder) + " " + suite + " main\n");
        Path installed = Files.createFile(folder.resolve("status"));
        List<String> options = Stream.of(
                        "Dir::Etc::SourceList=" + sources,
                        "Dir::Etc::SourceParts=-",
                        "Dir::State::Lists=" + folder.resolve("lists"),
                        "Dir::State::status=" + installed,
                        "Dir::Cache=" + folder.resolve("cache"))
                .flatMap(option -> Stream.of("-o", option))
                .toList();
        DebianPackages.update(folder, options);
        return options;
    }

    /** Where this machine gets Debian's packages from. */
    private static String mirror(Path folder) throws IOException {
        String codename = Files.readAllLines(Path.of("/etc/os-release")).stream()
                .filter(line -> line.startsWith("VERSION_CODENAME="))
                .map(line -> line.substring(line.indexOf('=') + 1).replace("\"", ""))
                .findFirst()
                .orElseThrow(() -> new IOException("this machine does not run a release of Debian"));
        List<String> query = List.of(
                "indextargets",
                "--no-release-info",
                "--format",
                "$(REPO_URI)",
                "Created-By: Packages",
                "Component: main",
                "Release: " + codename);
        return DebianPackages.apt(folder, DebianPackages.LIST_TIMEOUT, query)
                .lines()
                .findFirst()
                .orElseThrow(() -> new IOException("apt knows no mirror of Debian " + codename));
    }

    /** Puts a script in the place of each program in an unpacked folder, with paths relative to itself. */
    static void wrapPrograms(Path root) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .toList();
        }
        Set<Path> libraries = new TreeSet<>();
        for (Path file : files) {
            if (file.getFileName().toString().contains(".so.")) {
                libraries.add(folderOf(file));
            }
        }
        Path loader = files.stream()
                .filter(file -> file.getFileName().toString().startsWith(LOADER))
                .findFirst()
                .orElseThrow(() -> new IOException("no loader " + LOADER + " in " + root));
        for (Path file : files) {
            if (folderOf(file).endsWith("bin") || folderOf(file).endsWith("sbin")) {
                wrap(file, loader, libraries);
            }
        }
    }

    private static void wrap(Path program, Path loader, Set<Path> libraries) throws IOException {
        if (!isDynamic(program)) {
            return;
        }
        Path folder = folderOf(program);
        Path moved = folder.resolve(program.getFileName() + ".elf");
        Files.move(program, moved, StandardCopyOption.ATOMIC_MOVE);
        String path =
                libraries.stream().map(library -> fromScript(folder, library)).collect(Collectors.joining(":"));
        Files.writeString(
                program,
                "#!/bin/sh\nhere=${0%/*}\nexec \"" + fromScript(folder, loader) + "\" --library-path \"" + path
                        + "\" --argv0 \"$0\" \"" + fromScript(folder, moved) + "\" \"$@\"\n");
        Files.setPosixFilePermissions(program, Files.getPosixFilePermissions(moved));
    }

    private static String fromScript(Path folder, Path file) {
        return "$here/" + folder.relativize(file);
    }

    /** Whether a file is a program that a loader has to load: such a program names its loader at its beginning. */
    private static boolean isDynamic(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            String header = new String(in.readNBytes(HEADER_BYTES), StandardCharsets.ISO_8859_1);
            return header.startsWith("\u007fELF") && header.contains("/" + LOADER);
        }
    }

    private static Path folderOf(Path file) {
        return file.resolveSibling("").normalize();
    }
}
