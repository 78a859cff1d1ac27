package dev.lockstep.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README's code is the code that the build runs. */
class ReadmeTest {
    private static final Path README = Path.of("../README.md");
    private static final Path EXAMPLE = Path.of("src/main/java/dev/lockstep/examples/GettingStarted.java");

    @Test
    void firstJavaBlockIsTheMarkedRegionOfGettingStarted() throws IOException {
        String region = first("// tag::readme\n(.*?)\\s*// end::readme", Files.readString(EXAMPLE));
        assertThat(first("```java\n(.*?)```", Files.readString(README))).isEqualTo(region.stripIndent() + "\n");
    }

    private static String first(String regex, String text) {
        Matcher matcher = Pattern.compile(regex, Pattern.DOTALL).matcher(text);
        assertThat(matcher.find()).as(regex).isTrue();
        return matcher.group(1);
    }
}
