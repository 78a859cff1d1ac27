package dev.lockstep.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Which version of a peer's library is used: the one in the name of its jar. */
final class Versions {
    private Versions() {}

    static String of(Entrant entrant, Path peers) {
        Path folder = peers.resolve(entrant.classPath()).resolve("target/lib");
        if (entrant.library().isEmpty() || !Files.isDirectory(folder)) {
            return "";
        }
        String prefix = entrant.library() + "-";
        try (Stream<Path> jars = Files.list(folder)) {
            return jars.map(jar -> jar.getFileName().toString())
                    .filter(jar -> jar.startsWith(prefix) && Character.isDigit(jar.charAt(prefix.length())))
                    .map(jar -> jar.substring(prefix.length(), jar.length() - ".jar".length()))
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
