package dev.lockstep.docs;

import dev.lockstep.cli.Main;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.xml.sax.SAXException;
import picocli.CommandLine;

/** What the command-line tool understands, and what poms say. */
final class Commands {
    private Commands() {}

    static CommandLine all() {
        return new CommandLine(Main.class)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(
                        Duration.class, text -> Duration.ofMillis(Math.round(Double.parseDouble(text) * 1000)));
    }

    /** The commands that people see, such as {@code demo pause}. */
    static List<String> names() {
        List<String> names = new ArrayList<>();
        collect("", all(), names);
        return names;
    }

    /** The long options of all commands. */
    static Set<String> options() {
        Set<String> options = new TreeSet<>();
        collect(all(), options);
        return options;
    }

    private static void collect(CommandLine command, Set<String> options) {
        options.addAll(command.getCommandSpec().optionsMap().keySet());
        command.getSubcommands().values().forEach(each -> collect(each, options));
    }

    private static void collect(String prefix, CommandLine command, List<String> names) {
        for (Map.Entry<String, CommandLine> entry : command.getSubcommands().entrySet()) {
            if (!entry.getValue().getCommandSpec().usageMessage().hidden()) {
                names.add(prefix + entry.getKey());
                collect(prefix + entry.getKey() + " ", entry.getValue(), names);
            }
        }
    }

    static Document xml(Path file) throws IOException {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        } catch (ParserConfigurationException | SAXException e) {
            throw new IllegalStateException("Cannot read " + file, e);
        }
    }
}
