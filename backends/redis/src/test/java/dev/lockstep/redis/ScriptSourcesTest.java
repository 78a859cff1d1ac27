package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The scripts share what they have in common: a constant or a function stands in one file. */
class ScriptSourcesTest {
    private static final Pattern FUNCTION =
            Pattern.compile("^local function \\w+(\\(.*?\\)\n.*?^end)$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern CONSTANT = Pattern.compile("^local ([A-Z_]+) = ", Pattern.MULTILINE);
    private static final Pattern NUMBER = Pattern.compile("(?<![\\w.])\\d{2,}(?![\\w.])");

    /** Between seconds, milliseconds and microseconds. */
    private static final Set<String> UNITS = Set.of("1000", "1000000");

    @Test
    void noConstantAndNoFunctionStandsInTwoScripts() throws Exception {
        Map<String, String> scripts = scripts();
        assertThat(scripts).containsKeys("acquire.lua", "redlock-acquire.lua", "plain-acquire.lua", "constants.lua");
        assertThat(twice(scripts)).isEmpty();
    }

    @Test
    void whatStandsInTwoScriptsIsFound() {
        String function = "local function later(ms)\n  return now + ms\nend\n";
        Map<String, String> scripts = new LinkedHashMap<>();
        scripts.put("one.lua", function + "local KEPT = 5\nreturn later(300) -- 4711\n");
        scripts.put("two.lua", function.replace("later", "after") + "local KEPT = 6\nreturn 300 * 1000 -- 4711\n");
        assertThat(twice(scripts))
                .containsExactlyInAnyOrder(
                        "one.lua and two.lua: (ms)\n  return now + ms\nend",
                        "one.lua and two.lua: KEPT",
                        "one.lua and two.lua: 300");
    }

    private static List<String> twice(Map<String, String> scripts) {
        Map<String, String> firstFile = new HashMap<>();
        List<String> found = new ArrayList<>();
        scripts.forEach((file, text) -> {
            String code = text.replaceAll("--.*", "");
            for (String part : parts(code)) {
                String first = firstFile.putIfAbsent(part, file);
                if (first != null && !first.equals(file)) {
                    found.add(first + " and " + file + ": " + part);
                }
            }
        });
        return found;
    }

    private static List<String> parts(String code) {
        List<String> parts = new ArrayList<>();
        for (Pattern pattern : List.of(FUNCTION, CONSTANT, NUMBER)) {
            Matcher matcher = pattern.matcher(code);
            while (matcher.find()) {
                String part = matcher.group(matcher.groupCount());
                if (!UNITS.contains(part)) {
                    parts.add(part);
                }
            }
        }
        return parts;
    }

    private static Map<String, String> scripts() throws IOException, URISyntaxException {
        Path folder = Path.of(Objects.requireNonNull(RedisClaim.class.getResource("/dev/lockstep/redis/acquire.lua"))
                        .toURI())
                .resolveSibling("");
        Map<String, String> scripts = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".lua")).toList()) {
                scripts.put(file.getFileName().toString(), Files.readString(file));
            }
        }
        return scripts;
    }
}
