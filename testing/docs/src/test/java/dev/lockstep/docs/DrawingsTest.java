package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The drawings in docs/drawings are made from the text beside them; {@code -Ddocs.write=true} makes them again. */
class DrawingsTest {
    private static final Path FOLDER = Guide.root().resolve("docs/drawings");

    @Test
    void drawingsAreMadeFromTheirText() throws IOException {
        List<Path> texts = Guide.files(FOLDER, ".txt");
        assertThat(texts).isNotEmpty();
        for (Path text : texts) {
            check(text, ".svg", false);
            check(text, ".zh.svg", true);
        }
        assertThat(Guide.files(FOLDER, ".svg")).hasSize(2 * texts.size());
    }

    private static void check(Path text, String end, boolean chinese) throws IOException {
        Path file = text.resolveSibling(text.getFileName().toString().replace(".txt", end));
        String svg = Drawing.svg(Files.readString(text), chinese);
        if (Boolean.getBoolean("docs.write")) {
            Files.writeString(file, svg);
        }
        assertThat(file)
                .as("make it again with -Ddocs.write=true")
                .usingCharset(StandardCharsets.UTF_8)
                .hasContent(svg);
    }

    @Test
    void linesThatMeanNothingAreRefused() {
        assertThatThrownBy(() -> Drawing.svg("A = a\nA ~ B", false)).hasMessageContaining("A ~ B");
        assertThatThrownBy(() -> Drawing.svg("A = a\nB: note", false)).hasMessageContaining("No column B");
    }
}
