package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Where packages come from is set on the machine that builds, and not in the project: mirrors and proxies then work. */
class RegistriesTest {
    /** In two parts each, so that this file has none of them. */
    private static final List<String> HOSTS = List.of(
            "repo.maven" + ".apache.org",
            "repo1.maven" + ".org",
            "central" + ".sonatype.com",
            "oss" + ".sonatype.org",
            "plugins" + ".gradle.org",
            "registry" + ".npmjs.org",
            "registry" + ".npmmirror.com",
            "registry" + ".yarnpkg.com",
            "docker" + ".io",
            "ghcr" + ".io",
            "quay" + ".io",
            "deb" + ".debian.org",
            "archive" + ".ubuntu.com",
            "pypi" + ".org",
            "jit" + "pack.io",
            "repo" + ".spring.io",
            "maven" + ".google.com",
            "maven" + ".aliyun.com",
            "pkg" + ".github.com",
            "g" + "cr.io",
            "mcr" + ".microsoft.com",
            "ecr" + ".aws");

    private static final Set<String> NOT_SOURCES = Set.of("target", ".git", "node_modules", ".idea", ".vscode");

    @Test
    void noFileNamesTheHostOfARegistry() throws IOException {
        Set<String> named = new TreeSet<>();
        Path root = Project.root();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes unused) {
                return NOT_SOURCES.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()) {
                    String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                    HOSTS.stream()
                            .filter(text::contains)
                            .forEach(host -> named.add(root.relativize(file) + ": " + host));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        assertThat(named).isEmpty();
    }
}
