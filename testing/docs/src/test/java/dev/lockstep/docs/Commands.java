package dev.lockstep.docs;

import dev.lockstep.cli.Main;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.xml.sax.SAXException;
import picocli.CommandLine;

/** The commands and options of the command-line tool, and the modules and plugins of poms. */
final class Commands {
    private Commands() {}

    static CommandLine all() {
        return Main.commandLine();
    }

    /** The commands that people see, by name, such as {@code demo pause}. */
    static Map<String, CommandLine> visible() {
        Map<String, CommandLine> found = new TreeMap<>();
        collect("", all(), found);
        return found;
    }

    private static void collect(String prefix, CommandLine command, Map<String, CommandLine> found) {
        for (Map.Entry<String, CommandLine> entry : command.getSubcommands().entrySet()) {
            if (!entry.getValue().getCommandSpec().usageMessage().hidden()) {
                found.put(prefix + entry.getKey(), entry.getValue());
                collect(prefix + entry.getKey() + " ", entry.getValue(), found);
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
