package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages show what explain printed on real servers; {@code -Ddocs.write=true} puts it there. */
class StepsTest {
    private static final Path STEPS = Guide.root().resolve("docs/engines/steps");

    @Test
    void pagesShowWhatExplainPrinted() throws IOException {
        StringBuilder all = new StringBuilder();
        for (boolean chinese : new boolean[] {false, true}) {
            for (Path file : Guide.pages(Guide.root().resolve(chinese ? "docs/zh/how" : "docs/how"))) {
                String page = Files.readString(file);
                String filled = Steps.fill(page, STEPS, chinese);
                if (Boolean.getBoolean("docs.write")) {
                    Files.writeString(file, filled);
                }
                assertThat(file)
                        .as("make it again with -Ddocs.write=true")
                        .usingCharset(StandardCharsets.UTF_8)
                        .hasContent(filled);
                all.append(filled);
            }
        }
        List<String> unused = new ArrayList<>();
        for (Path file : Guide.pages(STEPS)) {
            String name = file.getFileName().toString().replace(".md", "");
            if (all.indexOf("<!-- steps: " + name + " -->") < 0) {
                unused.add(name);
            }
        }
        assertThat(unused).as("explained, and shown nowhere").isEmpty();
    }

    @Test
    void everyAlgorithmHasADrawingNumberedStepsItsClassesAndWhatOthersGetWrong() throws IOException {
        List<Path> pages = Guide.pages(Guide.root().resolve("docs/how"));
        assertThat(pages).hasSizeGreaterThan(1);
        for (Path file : pages) {
            if (!file.endsWith("README.md")) {
                assertThat(Files.readString(file))
                        .as(file.toString())
                        .containsPattern("!\\[[^]]+]\\(\\.\\./drawings/[a-z-]+\\.svg\\)")
                        .containsPattern("(?m)^1\\. ")
                        .containsPattern("\\(\\.\\./\\.\\./(core|backends/[a-z]+)/src/main/java/\\S+\\.java\\)")
                        .containsPattern("(?m)^## What .*(gets? wrong|lacks)$");
            }
            if (!file.endsWith("README.md")) {
                assertThat(Files.readString(file)).as(file.toString()).contains("<!-- steps: ");
            }
        }
    }

    @Test
    void anotherSentenceNeedsATranslation(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("toy.md"), "## toy\n\n1. A dances.\n");
        String page = "<!-- steps: toy -->\n";
        assertThat(Steps.fill(page, folder, false)).contains("1. A dances.");
        assertThatThrownBy(() -> Steps.fill(page, folder, true)).hasMessageContaining("A dances.");
    }
}
