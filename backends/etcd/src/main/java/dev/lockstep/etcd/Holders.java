package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.HolderInfo;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Who has a claim, as the value of its key: lines that people can read with {@code etcdctl}. */
final class Holders {
    private static final Pattern LINE_BREAK = Pattern.compile("\\R");

    private Holders() {}

    static ByteString write(HolderInfo holder) {
        return Keys.bytes("client=" + line(holder.client())
                + "\nhost=" + line(holder.host())
                + "\npid=" + holder.pid()
                + "\nthread=" + line(holder.thread())
                + "\nsince=" + holder.since()
                + "\nsticky=" + holder.sticky()
                + "\n");
    }

    /** Reads what is there; nothing decides by it, so what is missing or spoilt is shown as such. */
    static HolderInfo read(ByteString value) {
        Map<String, String> fields = new HashMap<>();
        value.toStringUtf8().lines().forEach(line -> {
            int equals = line.indexOf('=');
            if (equals > 0) {
                fields.put(line.substring(0, equals), line.substring(equals + 1));
            }
        });
        return new HolderInfo(
                fields.getOrDefault("client", "?"),
                fields.getOrDefault("host", "?"),
                number(fields.getOrDefault("pid", "0")),
                fields.getOrDefault("thread", "?"),
                instant(fields.getOrDefault("since", "")),
                Boolean.parseBoolean(fields.get("sticky")));
    }

    private static String line(String text) {
        return LINE_BREAK.matcher(text).replaceAll(" ");
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static Instant instant(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeException e) {
            return Instant.EPOCH;
        }
    }
}
