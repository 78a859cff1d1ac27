package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parts that are in the README and on a page of the guide are the same in both. */
class ReadmeTest {
    private static final List<String> BUILD_FILES = List.of("xml", "kts", "groovy");

    @ParameterizedTest
    @CsvSource({"README.md, docs/compared.md", "README.zh-CN.md, docs/zh/compared.md"})
    void comparisonsAreTheSame(String readme, String page) throws IOException {
        List<List<List<String>>> compared = Guide.page(page).tables();
        assertThat(compared).hasSize(1);
        assertThat(Guide.page(readme).tables()).containsAll(compared);
    }

    @ParameterizedTest
    @CsvSource({"README.md, docs/install.md", "README.zh-CN.md, docs/zh/install.md"})
    void installationIsTheSame(String readme, String page) throws IOException {
        List<Page.Block> shown = Guide.page(readme).blocks().stream()
                .filter(block -> BUILD_FILES.contains(block.language())
                        || block.text().contains("/bin/lockstep ~/.local/bin/lockstep"))
                .toList();
        assertThat(shown).hasSize(4);
        assertThat(Guide.page(page).blocks()).containsAll(shown);
    }
}
