package dev.lockstep.cli;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** An engine's knowledge of a lock, as JSON and as words. Tokens are strings in JSON: they exceed 2⁵³. */
final class LockInfos {
    private LockInfos() {}

    static Map<String, Object> toJson(LockInfo info) {
        Map<String, Object> lock = new LinkedHashMap<>();
        lock.put("name", info.name());
        if (info.limit().isPresent()) {
            lock.put("kind", "semaphore");
            lock.put("permits", info.limit().getAsInt());
        } else if (isElection(info)) {
            lock.put("kind", "election");
        }
        lock.put("holders", entriesToJson(info, info.holders()));
        lock.put("waiters", entriesToJson(info, info.waiters()));
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

    private static List<Map<String, Object>> entriesToJson(LockInfo info, List<LockInfo.Entry> entries) {
        return entries.stream().map(entry -> toJson(info, entry)).toList();
    }

    private static Map<String, Object> toJson(LockInfo info, LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("mode", mode(entry));
        if (info.limit().isPresent()) {
            json.put("permits", entry.permits());
        }
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

    /** Whether it has candidates: they have this word instead of a thread's name. */
    private static boolean isElection(LockInfo info) {
        return Stream.concat(info.holders().stream(), info.waiters().stream()).anyMatch(LockInfos::isCandidate);
    }

    private static boolean isCandidate(LockInfo.Entry entry) {
        String thread = entry.holder().thread();
        return entry.mode() == LockMode.EXCLUSIVE && (thread.equals("election") || thread.startsWith("election "));
    }

    /** The kind of a holder's hold or a waiter's request: a mode, permits of a semaphore, or the lead. */
    static String use(LockInfo info, LockInfo.Entry entry) {
        if (info.limit().isPresent()) {
            return permits(entry.permits(), info);
        }
        if (isCandidate(entry)) {
            return info.holders().contains(entry) ? "leader" : "candidate";
        }
        return mode(entry) + (entry.holder().sticky() ? ", sticky" : "");
    }

    /** The same for all holders together, of which there is one at least. */
    static String use(LockInfo info) {
        if (info.limit().isPresent()) {
            return permits(
                    info.holders().stream().mapToInt(LockInfo.Entry::permits).sum(), info);
        }
        LockInfo.Entry first = info.holders().get(0);
        return isCandidate(first) ? "leader" : mode(first);
    }

    private static String permits(int count, LockInfo info) {
        int limit = info.limit().orElse(0);
        return count + " of " + limit + (limit == 1 ? " permit" : " permits");
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
