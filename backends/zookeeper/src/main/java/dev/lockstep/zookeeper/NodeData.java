package dev.lockstep.zookeeper;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is written in a claim's node, for people and for {@code inspect}: a line for each fact. Only the mode decides
 * anything: a writer that has become a reader says so here, since a node's name cannot be changed.
 *
 * @param mode how the lock is held or wanted; empty if somebody else wrote the data
 * @param claim the claim's key, which tells plain nodes apart
 * @param holder who it is
 */
record NodeData(Optional<LockMode> mode, String claim, HolderInfo holder) {
    private static final String UNKNOWN = "unknown";
    private static final char DELETE = 0x7F;

    byte[] bytes() {
        StringBuilder text = new StringBuilder();
        line(text, "mode", mode.map(LockMode::name).orElse(UNKNOWN));
        line(text, "claim", claim);
        line(text, "client", holder.client());
        line(text, "host", holder.host());
        line(text, "pid", Long.toString(holder.pid()));
        line(text, "thread", holder.thread());
        line(text, "since", holder.since().toString());
        line(text, "sticky", Boolean.toString(holder.sticky()));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void line(StringBuilder text, String key, String value) {
        text.append(key).append('=');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            text.append(c < ' ' || c == DELETE ? ' ' : c); // a thread may have any name
        }
        text.append('\n');
    }

    NodeData with(LockMode other) {
        return new NodeData(Optional.of(other), claim, holder);
    }

    /** Whether data says that its writer has become a reader; cheaper than {@link #parse}. */
    static boolean isShared(byte @Nullable [] bytes) {
        return bytes != null && new String(bytes, StandardCharsets.UTF_8).startsWith("mode=" + LockMode.SHARED + "\n");
    }

    /** Understands data, whoever wrote it: what is missing is "unknown". */
    static NodeData parse(byte @Nullable [] bytes, Instant created) {
        Map<String, String> facts = new HashMap<>();
        if (bytes != null) {
            new String(bytes, StandardCharsets.UTF_8).lines().forEach(line -> {
                int equals = line.indexOf('=');
                if (equals > 0) {
                    facts.put(line.substring(0, equals), line.substring(equals + 1));
                }
            });
        }
        HolderInfo holder = new HolderInfo(
                facts.getOrDefault("client", UNKNOWN),
                facts.getOrDefault("host", UNKNOWN),
                number(facts.get("pid")),
                facts.getOrDefault("thread", UNKNOWN),
                instant(facts.get("since"), created),
                Boolean.parseBoolean(facts.get("sticky")));
        return new NodeData(mode(facts.get("mode")), facts.getOrDefault("claim", ""), holder);
    }

    private static Optional<LockMode> mode(@Nullable String text) {
        for (LockMode mode : LockMode.values()) {
            if (mode.name().equals(text)) {
                return Optional.of(mode);
            }
        }
        return Optional.empty();
    }

    private static long number(@Nullable String text) {
        try {
            return text == null ? 0 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static Instant instant(@Nullable String text, Instant otherwise) {
        try {
            return text == null ? otherwise : Instant.parse(text);
        } catch (DateTimeException e) {
            return otherwise;
        }
    }
}
