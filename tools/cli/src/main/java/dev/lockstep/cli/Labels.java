package dev.lockstep.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names that stay the same from run to run for what does not: clients are A, B, C in the order in which they appear, so that
 * A.1 is A's first claim; tokens are T1, T2, T3 as they rise, leases and sessions S1, S2, S3. Times of day are left out. For
 * one thread.
 */
final class Labels {
    static final String TIME = "<time>";
    private static final String NAMESPACE = "app";

    /** A client's id, perhaps behind the x with which Redis's claims mark their expiry. */
    private static final Pattern CLIENT = Pattern.compile("(?<![A-Za-z0-9_-])(x?)([A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])");

    private static final Pattern LONG_NUMBER = Pattern.compile("(?<!\\d)\\d{13,}(?!\\d)");

    /** A short number that is a token: of the claim that has a slot. */
    private static final Pattern SLOT = Pattern.compile("(?m)^(created|slot\\.\\d+)=(\\d+)");

    private static final Pattern WHERE = Pattern.compile("(?m)^(host|pid|since)=.*$");

    private final String namespace;
    private final Map<String, String> shown = new HashMap<>();
    private final List<String> clients = new ArrayList<>();
    private final List<Long> tokens = new ArrayList<>();
    private final List<Long> sessions = new ArrayList<>();

    Labels(String namespace) {
        this.namespace = namespace;
    }

    /** Text of the server with names in place of ids, tokens, times, hosts and the namespace. */
    String text(String raw) {
        String text = CLIENT.matcher(raw.replace(namespace + "-", "").replace(namespace, NAMESPACE))
                .replaceAll(found -> found.group(1) + client(found.group(2)));
        text = LONG_NUMBER.matcher(text).replaceAll(found -> Matcher.quoteReplacement(number(found)));
        text = SLOT.matcher(text).replaceAll(found -> found.group(1) + "=" + token(Long.parseLong(found.group(2))));
        return WHERE.matcher(text).replaceAll(found -> found.group(1) + "=" + hidden(found.group(1)));
    }

    private static String hidden(String field) {
        return field.equals("since") ? TIME : "<" + field + ">";
    }

    /** The lines of a value, if they have changed since they were last shown: unchanged lines are not repeated. */
    List<String> news(String key, String value) {
        return value.equals(shown.put(key, value))
                ? List.of()
                : value.lines().map(line -> "  " + text(line)).toList();
    }

    private String client(String id) {
        return String.valueOf((char) ('A' + index(clients, id)));
    }

    private String number(MatchResult found) {
        long number = Long.parseLong(found.group());
        return tokens.contains(number) ? token(number) : TIME;
    }

    /** The name of a token, or of what will be one. */
    String token(long token) {
        return "T" + (index(tokens, token) + 1);
    }

    /** The name of a client's lease or session on the server. */
    String session(long id) {
        return "S" + (index(sessions, id) + 1);
    }

    private static <T> int index(List<T> known, T one) {
        if (!known.contains(one)) {
            known.add(one);
        }
        return known.indexOf(one);
    }
}
