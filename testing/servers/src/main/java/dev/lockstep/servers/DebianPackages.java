package dev.lockstep.servers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/*
 * Overview. A package is unpacked, not installed, so no rights are needed and nothing on the machine changes:
 *   1. `apt-get --simulate install` names the package and the libraries that this machine lacks;
 *   2. `apt-get download` fetches them, `dpkg-deb -x` unpacks them into one folder;
 *   3. the cache keeps it as NAME_VERSION.
 * If the machine's package lists are missing or too old for that, newer ones are fetched into the cache and 1 is tried
 * again. Packages of another suite come with all their libraries, see DebianSuite; the cache keeps them as
 * NAME.SUITE_VERSION.
 */
/** Debian packages unpacked into the user's cache, fetched on first use. Thread-safe, and safe between processes. */
final class DebianPackages {
    static final Duration LIST_TIMEOUT = Duration.ofMinutes(3);
    private static final Duration DOWNLOAD_TIMEOUT = Duration.ofMinutes(8);
    private static final Pattern TO_INSTALL = Pattern.compile("(?m)^Inst (\\S+) ");

    private final Path root;
    private final boolean standsAlone;

    private DebianPackages(Path root, boolean standsAlone) {
        this.root = root;
        this.standsAlone = standsAlone;
    }

    /**
     * Gets packages, from the cache or from Debian.
     *
     * @param names a package, and others that are unpacked beside it even where this machine has them installed
     * @throws ServerUnavailableException if they are not available
     */
    static DebianPackages get(List<String> names) {
        return get(names, ServerCache.ofUser());
    }

    static DebianPackages get(List<String> names, ServerCache cache) {
        String name = names.get(0);
        try {
            return new DebianPackages(
                    cache.get(name, (content, work) -> fetch(names, content, work, cache.directory())), false);
        } catch (IOException e) {
            throw new ServerUnavailableException(
                    "the Debian package " + name + " is neither installed nor to be had: install it (" + reason(e)
                            + ")",
                    e);
        }
    }

    /**
     * Gets packages of another suite than this machine's, with all libraries that they need.
     *
     * @param suite as {@code sid}
     * @param names a package, and others that are unpacked beside it
     * @throws ServerUnavailableException if they are not available
     */
    static DebianPackages ofSuite(String suite, List<String> names) {
        String name = names.get(0);
        try {
            Path root = ServerCache.ofUser().get(name + "." + suite, (content, work) -> {
                Path archives = Files.createDirectories(work.resolve("archives"));
                Path lists = Files.createDirectories(work.resolve("apt"));
                download(names, archives, DebianSuite.options(suite, lists));
                String version = unpack(name, archives, content);
                DebianSuite.wrapPrograms(content);
                return version;
            });
            return new DebianPackages(root, true);
        } catch (IOException e) {
            throw new ServerUnavailableException(
                    "the package " + name + " of Debian " + suite + " cannot be downloaded (" + reason(e) + ")", e);
        }
    }

    /** The folder that the packages are unpacked in, as if it were the machine's root folder. */
    Path root() {
        return root;
    }

    /** A program of the package, with the libraries that came with it. */
    Program program(String name) {
        for (Path folder : folders()) {
            Path candidate = folder.resolve(name);
            if (folder.getFileName().toString().endsWith("bin") && Files.isExecutable(candidate)) {
                return new Program(candidate, standsAlone ? Map.of() : libraryPath());
            }
        }
        throw new ServerException("no program " + name + " in " + root);
    }

    /** The environment in which programs find the libraries that came with the package. */
    Map<String, String> libraryPath() {
        String path = folders().stream()
                .filter(DebianPackages::hasLibraries)
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        return path.isEmpty() ? Map.of() : Map.of("LD_LIBRARY_PATH", path);
    }

    private List<Path> folders() {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(Files::isDirectory).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean hasLibraries(Path folder) {
        try (DirectoryStream<Path> libraries = Files.newDirectoryStream(folder, "*.so{,.*}")) {
            return libraries.iterator().hasNext();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String fetch(List<String> names, Path content, Path work, Path cache) throws IOException {
        Path archives = Files.createDirectories(work.resolve("archives"));
        try {
            download(names, archives, List.of());
        } catch (IOException e) {
            download(names, archives, freshLists(cache, e));
        }
        return unpack(names.get(0), archives, content);
    }

    /** Unpacks all archives of a folder, and returns the version of one package. */
    private static String unpack(String name, Path archives, Path content) throws IOException {
        String version = "";
        try (DirectoryStream<Path> debs = Files.newDirectoryStream(archives, "*.deb")) {
            for (Path deb : debs) {
                String[] parts = deb.getFileName().toString().split("_", -1);
                version = parts[0].equals(name) ? parts[1].replaceFirst("^[0-9]+%3a", "") : version;
                List<String> unpack = List.of("dpkg-deb", "-x", deb.toString(), content.toString());
                Commands.run(archives, DOWNLOAD_TIMEOUT, unpack);
            }
        }
        return version;
    }

    private static void download(List<String> names, Path archives, List<String> options) throws IOException {
        List<String> simulate = new ArrayList<>(options);
        simulate.addAll(List.of("--simulate", "--no-install-recommends", "install"));
        simulate.addAll(names);
        Collection<String> wanted = new LinkedHashSet<>(names);
        Matcher missing = TO_INSTALL.matcher(apt(archives, LIST_TIMEOUT, simulate));
        while (missing.find()) {
            wanted.add(missing.group(1));
        }
        List<String> download = new ArrayList<>(options);
        download.add("download");
        download.addAll(wanted);
        apt(archives, DOWNLOAD_TIMEOUT, download);
    }

    /** Fetches package lists of our own, and returns the options with which apt uses them. */
    private static List<String> freshLists(Path cache, IOException why) throws IOException {
        Path apt = cache.resolve(".apt");
        Files.createDirectories(apt.resolve("lists").resolve("partial"));
        Files.createDirectories(apt.resolve("cache").resolve("archives").resolve("partial"));
        List<String> options =
                List.of("-o", "Dir::State::Lists=" + apt.resolve("lists"), "-o", "Dir::Cache=" + apt.resolve("cache"));
        try {
            update(cache, options);
        } catch (IOException e) {
            e.addSuppressed(why);
            throw e;
        }
        return options;
    }

    /** Fetches the package lists that some options name. */
    static void update(Path directory, List<String> options) throws IOException {
        List<String> update = new ArrayList<>(options);
        update.add("update");
        apt(directory, LIST_TIMEOUT, update);
    }

    static String apt(Path directory, Duration timeout, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("apt-get", "-q", "-o", "APT::Sandbox::User=root"));
        command.addAll(arguments);
        return Commands.run(directory, timeout, new Launch(command, Map.of("LC_ALL", "C"), false));
    }

    /** The line in which apt says what is wrong, or the first. */
    private static String reason(IOException e) {
        List<String> lines = String.valueOf(e.getMessage()).lines().toList();
        return lines.stream().filter(line -> line.startsWith("E:")).findFirst().orElse(lines.get(0));
    }
}
