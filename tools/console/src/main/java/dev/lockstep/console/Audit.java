package dev.lockstep.console;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the audit log: a line for each attempt to release a lock by force. */
final class Audit {
    private static final Logger LOG = LoggerFactory.getLogger(Console.AUDIT_LOGGER);

    private Audit() {}

    static void write(Console.Release request, String outcome, String by) {
        LOG.info(
                "force release: namespace='{}' lock='{}' token={} outcome='{}' by='{}' reason='{}'",
                printable(request.namespace()),
                printable(request.name()),
                request.token(),
                outcome,
                printable(by),
                printable(request.reason()));
    }

    /** One line stays one line, a name in quotes is no other field, and what cannot be seen is shown by its number. */
    static String printable(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (isInvisible(c)) {
                line.append(String.format("\\u{%x}", c));
            } else {
                line.append(c == '\'' || c == '\\' ? "\\" : "").appendCodePoint(c);
            }
        });
        return line.toString();
    }

    private static boolean isInvisible(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }
}
