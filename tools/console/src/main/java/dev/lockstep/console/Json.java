package dev.lockstep.console;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes maps, collections, strings, numbers and booleans as JSON on one line. Longs beyond 2⁵³ must come as strings. */
final class Json {
    private static final char[] HEX = "0123456789abcdef".toCharArray();

    private Json() {}

    /** A value that is JSON already. */
    record Written(String json) {}

    static String write(@Nullable Object value) {
        StringBuilder text = new StringBuilder(1024);
        append(text, value);
        return text.toString();
    }

    private static void append(StringBuilder text, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            text.append('{');
            String separator = "";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                text.append(separator);
                string(text, String.valueOf(entry.getKey()));
                text.append(':');
                append(text, entry.getValue());
                separator = ",";
            }
            text.append('}');
        } else if (value instanceof Iterable<?> list) {
            text.append('[');
            String separator = "";
            for (Object element : list) {
                text.append(separator);
                append(text, element);
                separator = ",";
            }
            text.append(']');
        } else if (value instanceof Written written) {
            text.append(written.json());
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            text.append(value);
        } else {
            string(text, value.toString());
        }
    }

    private static void string(StringBuilder text, String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c == '<' || c == '>' || c == '&' || c == '\u2028' || c == '\u2029') {
                // Harmless even where a browser takes the text for HTML or a script.
                text.append("\\u")
                        .append(HEX[c >> 12 & 15])
                        .append(HEX[c >> 8 & 15])
                        .append(HEX[c >> 4 & 15])
                        .append(HEX[c & 15]);
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
