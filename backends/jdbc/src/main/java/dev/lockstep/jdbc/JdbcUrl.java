package dev.lockstep.jdbc;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A JDBC URL without the settings that are Lockstep's, and those settings. */
record JdbcUrl(String url, Settings settings) {
    /** As the drivers' own settings: after a question mark or an ampersand, or, for H2, a semicolon. */
    private static final Pattern OURS = Pattern.compile("([?&;])lockstep\\.(\\w+)=([^&;]*)");

    static JdbcUrl parse(String url, Settings defaults) {
        Settings settings = defaults;
        StringBuilder rest = new StringBuilder();
        Matcher matcher = OURS.matcher(url);
        int end = 0;
        boolean question = false;
        while (matcher.find()) {
            rest.append(url, end, matcher.start());
            question |= matcher.group(1).equals("?");
            settings = settings.with(matcher.group(2), matcher.group(3));
            end = matcher.end();
        }
        rest.append(url, end, url.length());
        String left = rest.toString();
        if (question) {
            left = left.replaceFirst("&", "?"); // the first of those that are left is the first now
        }
        return new JdbcUrl(left, settings);
    }
}
