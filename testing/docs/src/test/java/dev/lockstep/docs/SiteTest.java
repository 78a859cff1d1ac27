package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The site shows the pages that there are. To build it takes Node, which the build does without. */
class SiteTest {
    private static final Path SITE = Guide.root().resolve("tools/site/.vitepress");
    private static final Pattern GROUP = Pattern.compile("pages: \\[([^]]*)]");
    private static final Pattern WORD = Pattern.compile("'([^']+)'");

    /** The pages of the navigation that are in English only, or the others. */
    private static Set<String> listed(boolean englishOnly) throws IOException {
        Set<String> listed = new TreeSet<>();
        Matcher group = GROUP.matcher(Files.readString(SITE.resolve("pages.mjs")));
        while (group.find()) {
            for (String page : words(group.group(1))) {
                if (englishOnly == Guide.isEnglishOnly("docs/" + page + ".md")) {
                    assertThat(listed.add(page))
                            .as("'" + page + "' is listed once")
                            .isTrue();
                }
            }
        }
        return listed;
    }

    private static List<String> words(String text) {
        return WORD.matcher(text).results().map(word -> word.group(1)).toList();
    }

    /** The name of a page on the site. */
    private static String name(String path) {
        return path.replaceFirst("^docs/", "").replaceFirst("\\.md$", "");
    }

    @Test
    void itsNavigationListsEveryPageOfTheGuide() throws IOException {
        assertThat(listed(false))
                .isEqualTo(Guide.pairs().stream()
                        .map(Guide.Pair::english)
                        .filter(path -> path.startsWith("docs/"))
                        .map(SiteTest::name)
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void itsNavigationListsEveryPageThatIsInEnglishAlone() throws IOException {
        Set<String> expected = new TreeSet<>();
        for (Path file : Guide.pages(Guide.root().resolve("docs"))) {
            String path = Guide.root().relativize(file).toString();
            // Decisions are found from their own list, and what explain printed is on the pages that quote it.
            if (Guide.isEnglishOnly(path) && !path.matches("docs/adr/\\d.*|docs/engines/steps/.*")) {
                expected.add(name(path));
            }
        }
        assertThat(listed(true)).isEqualTo(expected);
    }

    /** Otherwise the language switch would lead nowhere. */
    @Test
    void itKnowsWhichPagesAreInEnglishAlone() throws IOException {
        Matcher rule = Pattern.compile("ENGLISH_ONLY = /(.+)/\n").matcher(Files.readString(SITE.resolve("pages.mjs")));
        assertThat(rule.find()).isTrue();
        Pattern englishOnly = Pattern.compile(rule.group(1).replace("\\/", "/"));
        for (Path file : Guide.pages(Guide.root().resolve("docs"))) {
            String path = Guide.root().relativize(file).toString();
            if (!path.startsWith("docs/zh/") && !path.startsWith("docs/engines/steps/")) {
                assertThat(englishOnly.matcher("/zh/" + name(path)).find())
                        .as(path + " is in English alone")
                        .isEqualTo(Guide.isEnglishOnly(path));
            }
        }
    }

    @Test
    void theLinksAtItsTopResolve() throws IOException {
        List<String> links = new ArrayList<>();
        Matcher link = Pattern.compile("link: '/([^']*)'").matcher(Files.readString(SITE.resolve("config.mjs")));
        while (link.find()) {
            links.add("docs/" + link.group(1).replaceFirst("(^|/)$", "$1README") + ".md");
        }
        assertThat(links)
                .contains("docs/getting-started.md", "docs/zh/how/README.md")
                .allSatisfy(path -> assertThat(Guide.root().resolve(path)).exists());
    }
}
