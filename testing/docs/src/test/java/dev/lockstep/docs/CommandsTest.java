package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.OptionSpec;

/** The pages describe the command line correctly, and its page describes all of it. */
class CommandsTest {
    private static final String PAGE = "docs/cli.md";

    /** Is the flash sale, if nothing else is said. */
    private static final String DEMO = "demo";

    @Test
    void commands() throws IOException {
        Set<String> documented = new TreeSet<>();
        for (List<String> row : Guide.page(PAGE).table("command")) {
            for (String span : Page.spans(row.get(0))) {
                Matcher words =
                        Pattern.compile("([a-z-]+(?: [a-z]+[a-z-]*)?).*").matcher(span);
                if (words.matches()) {
                    documented.add(words.group(1));
                }
            }
        }
        assertThat(documented).isEqualTo(Commands.visible().keySet());
    }

    @Test
    void optionsAndTheirDefaults() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        for (List<String> row : Guide.page(PAGE).table("option")) {
            for (String command : commandsOf(row.get(1))) {
                Page.spans(row.get(0)).forEach(option -> documented.put(command + " " + option, row.get(2)));
            }
        }
        Map<String, String> existing = new TreeMap<>();
        Commands.visible().forEach((name, command) -> {
            for (OptionSpec option : command.getCommandSpec().options()) {
                for (String each : option.names()) {
                    String told = documented.getOrDefault(name + " " + each, "");
                    existing.put(name + " " + each, defaultOf(option, told));
                }
            }
        });
        assertThat(documented.entrySet()).containsExactlyInAnyOrderElementsOf(existing.entrySet());
    }

    /** The default value as the page must show it: as in the command's help, if that shows one. */
    private static String defaultOf(OptionSpec option, String told) {
        String value = option.defaultValue();
        String help = String.join(" ", option.description());
        boolean tells = value != null && help.matches(".*[Dd]efault: " + value + "\\b.*");
        return tells ? "`" + value + "`" : told;
    }

    /** The commands of which a cell speaks: every one, all but some, or those that it names, with what is below them. */
    private static Set<String> commandsOf(String cell) {
        Set<String> named = new HashSet<>();
        for (String name : Commands.visible().keySet()) {
            if (Page.spans(cell).stream().anyMatch(span -> isNamed(name, span))) {
                named.add(name);
            }
        }
        if (cell.equals("every command") || cell.startsWith("all but ")) {
            Set<String> others = new HashSet<>(Commands.visible().keySet());
            others.removeAll(named);
            return others;
        }
        return named;
    }

    private static boolean isNamed(String command, String span) {
        return command.equals(span)
                || command.startsWith(span + " ")
                || command.equals(DEMO) && span.equals(DEMO + " flash-sale");
    }

    @Test
    void exitCodes() throws ReflectiveOperationException, IOException {
        Set<Integer> existing = new TreeSet<>();
        for (Field code : Class.forName("dev.lockstep.cli.ExitCodes").getDeclaredFields()) {
            code.setAccessible(true);
            existing.add(code.getInt(null));
        }
        Set<Integer> documented = new TreeSet<>();
        for (List<String> row : Guide.page(PAGE).table("code")) {
            Matcher number = Pattern.compile("\\d+").matcher(row.get(0));
            while (number.find()) {
                documented.add(Integer.parseInt(number.group()));
            }
        }
        existing.remove(141); // one of 128 + n, and documented there
        assertThat(documented).isEqualTo(existing);
    }

    @Test
    void everyLineForAShellCanBeRun() throws IOException {
        List<String> wrong = new ArrayList<>();
        int lines = 0;
        for (Path file : Guide.pages(Guide.root())) {
            for (String line : shellLines(file)) {
                lines++;
                try {
                    understand(line);
                } catch (RuntimeException e) {
                    wrong.add(Guide.root().relativize(file) + ": " + line + ": " + e.getMessage());
                }
            }
        }
        assertThat(lines).isGreaterThan(10);
        assertThat(wrong).isEmpty();
    }

    /** The lines of shell blocks, and the text that could be such a line. */
    private static List<String> shellLines(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Page.Block block : Page.read(file).blocks()) {
            if (block.language().equals("sh")) {
                block.text().lines().filter(line -> !line.isBlank()).forEach(lines::add);
            }
        }
        Page.spans(Files.readString(file).replaceAll("(?s)```.*?```", "").replaceAll("\\s+", " ")).stream()
                .filter(span -> span.startsWith("./lockstep ") && !span.contains("…"))
                .forEach(lines::add);
        return lines;
    }

    private static void understand(String line) {
        String command = line.replaceFirst("#.*", "").replaceFirst("^LOCKSTEP_\\w+=\\S+ ", "");
        List<String> words = List.of(command.strip().split("\\s+"));
        String first = words.get(0);
        List<String> others = words.subList(1, words.size());
        if (first.equals("./lockstep")) {
            Commands.all().parseArgs(others.toArray(String[]::new));
        } else if (first.equals("mvn")) {
            others.stream()
                    .filter(word -> !word.matches(
                            "verify|test|install|package|deploy|spotless:apply|versions:set|dependency:copy"
                                    + "|'!bom'|:lockstep-[a-z-]+|-.*"))
                    .filter(word -> !Files.exists(Guide.root().resolve(word).resolve("pom.xml")))
                    .filter(word -> !Files.isRegularFile(Guide.root().resolve(word)))
                    .forEach(CommandsTest::refuse);
        } else if (!line.matches("export LOCKSTEP_URL=\\S+|(git|tar|ln) .*")
                && !Files.isExecutable(Guide.root().resolve(first))) {
            refuse(first);
        }
    }

    private static void refuse(String word) {
        throw new IllegalArgumentException("'" + word + "' is not known");
    }

    @Test
    void linesThatCannotBeRunAreFound() {
        for (String line : List.of(
                "./lockstep no-such-command",
                "./lockstep ls --no-such-option",
                "./lockstep exec --wait soon NAME -- true",
                "mvn no-such-goal",
                "tools/no-such-tool",
                "export NO_SUCH_VARIABLE=1")) {
            assertThatThrownBy(() -> understand(line)).as(line).isInstanceOf(RuntimeException.class);
        }
    }
}
