package dev.lockstep.benchmarks.worker;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * An order to a worker, or its answer: a word, and values by name, in one line. Values have no spaces.
 *
 * @param word what to do, or how it went
 * @param values by name
 */
public record Order(String word, Map<String, String> values) {
    /**
     * Reads a line.
     *
     * @param line the line
     * @return the same, in parts
     */
    public static Order parse(String line) {
        String[] words = line.strip().split(" ");
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
        }
        return new Order(words[0], values);
    }

    /**
     * Writes the line.
     *
     * @return the line
     */
    public String line() {
        return word
                + values.entrySet().stream()
                        .map(value -> " " + value.getKey() + "=" + value.getValue())
                        .collect(Collectors.joining());
    }

    String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException(word + " needs " + name);
        }
        return value;
    }

    int number(String name) {
        return Integer.parseInt(text(name));
    }

    int number(String name, int otherwise) {
        return values.containsKey(name) ? number(name) : otherwise;
    }
}
