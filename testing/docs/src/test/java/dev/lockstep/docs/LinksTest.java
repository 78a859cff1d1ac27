package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinksTest {
    @TempDir
    private Path folder;

    @Test
    void everyRelativeLinkOfTheProjectResolves() throws IOException {
        List<Path> pages = Guide.pages(Guide.root());
        assertThat(pages).contains(Guide.root().resolve("README.md"));
        assertThat(Links.broken(Guide.root(), pages)).isEmpty();
    }

    @Test
    void missingFilesAndHeadingsAreFound() throws IOException {
        Files.createDirectories(folder.resolve("docs"));
        Files.writeString(folder.resolve("docs/there.md"), "# The `token`, and what it's for\n## Twice\n## Twice\n");
        Path page = Files.writeString(folder.resolve("page.md"), """
                # Page
                [good](docs/there.md), [anchor](docs/there.md#the-token-and-what-its-for), [self](#page),
                [folder](docs/), [second](docs/there.md#twice-1), [world](https://example.org/x), `[code](no.md)`
                [bad](docs/gone.md) and [bad anchor](docs/there.md#gone) and [third](docs/there.md#twice-2)
                ```
                [in a block](no.md)
                ```
                [reference]: docs/missing.md
                """);

        assertThat(Links.broken(folder, List.of(page)))
                .containsExactly(
                        "page.md: docs/gone.md",
                        "page.md: docs/there.md#gone",
                        "page.md: docs/there.md#twice-2",
                        "page.md: docs/missing.md");
    }

    @Test
    void buildOutputIsNotRead() throws IOException {
        Files.createDirectories(folder.resolve("target"));
        Files.writeString(folder.resolve("target/page.md"), "");
        Files.writeString(folder.resolve("page.md"), "");
        assertThat(Guide.pages(folder)).containsExactly(folder.resolve("page.md"));
    }
}
