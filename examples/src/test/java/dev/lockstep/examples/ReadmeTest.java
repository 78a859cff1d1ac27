package dev.lockstep.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README's code is the code that the build runs. */
class ReadmeTest {
    private static final Path README = Path.of("../README.md");
    private static final Path EXAMPLES = Path.of("src/main/java/dev/lockstep/examples");

    @Test
    void javaBlocksAreTheMarkedRegionsOfTheExamples() throws IOException {
        List<String> regions = new ArrayList<>();
        for (String example : List.of("GettingStarted", "FlashSale", "OrderNumbers")) {
            List<String> found = all("// tag::readme\n(.*?)\\s*// end::readme", EXAMPLES.resolve(example + ".java"));
            assertThat(found).as(example).hasSize(1);
            regions.add(found.get(0).stripIndent() + "\n");
        }
        assertThat(all("```java\n(.*?)```", README)).isEqualTo(regions);
    }

    private static List<String> all(String regex, Path file) throws IOException {
        return Pattern.compile(regex, Pattern.DOTALL)
                .matcher(Files.readString(file))
                .results()
                .map(found -> found.group(1))
                .toList();
    }
}
