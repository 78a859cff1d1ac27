package dev.lockstep.cli;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What an engine knows of a lock, as JSON and as words. Tokens are strings in JSON: they exceed 2⁵³. */
final class LockInfos {
    private LockInfos() {}

    static Map<String, Object> toJson(LockInfo info) {
        Map<String, Object> lock = new LinkedHashMap<>();
        lock.put("name", info.name());
        lock.put("holders", entriesToJson(info.holders()));
        lock.put("waiters", entriesToJson(info.waiters()));
        return lock;
    }

    /** The same, with the namespace if several are shown. */
    static Map<String, Object> toJson(Namespaces.Located lock, boolean several) {
        Map<String, Object> json = new LinkedHashMap<>();
        if (several) {
            json.put("namespace", lock.namespace());
        }
        json.putAll(toJson(lock.info()));
        return json;
    }

    private static List<Map<String, Object>> entriesToJson(List<LockInfo.Entry> entries) {
        return entries.stream().map(LockInfos::toJson).toList();
    }

    private static Map<String, Object> toJson(LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("mode", mode(entry));
        entry.token().ifPresent(token -> json.put("token", Long.toString(token)));
        entry.remaining().ifPresent(left -> json.put("remainingMillis", left.toMillis()));
        json.put("client", who.client());
        json.put("host", who.host());
        json.put("pid", who.pid());
        json.put("thread", who.thread());
        json.put("since", who.since().toString());
        json.put("sticky", who.sticky());
        return json;
    }

    static String mode(LockInfo.Entry entry) {
        return entry.mode().name().toLowerCase(Locale.ROOT);
    }

    static String token(LockInfo.Entry entry) {
        return entry.token().isPresent() ? Long.toString(entry.token().getAsLong()) : "-";
    }

    static String remaining(LockInfo.Entry entry) {
        return entry.remaining()
                .map(left -> String.format(Locale.ROOT, "%.1f s", left.toMillis() / 1e3))
                .orElse("-");
    }
}
