package dev.lockstep.redis;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What several servers know of locks, as one answer: whoever has most of them holds, all others wait. */
final class Census {
    private Census() {}

    /** Who somebody is, and what it asks for. */
    private record Who(LockMode mode, HolderInfo holder) {}

    static LockInfo merge(String name, List<LockInfo> infos) {
        return merge(name, infos, infos.size());
    }

    private static LockInfo merge(String name, List<LockInfo> infos, int servers) {
        Map<Who, List<LockInfo.Entry>> has = new LinkedHashMap<>();
        Set<Who> known = new LinkedHashSet<>();
        for (LockInfo info : infos) {
            for (LockInfo.Entry entry : info.holders()) {
                Who who = new Who(entry.mode(), entry.holder());
                has.computeIfAbsent(who, unused -> new ArrayList<>()).add(entry);
            }
            info.waiters().forEach(entry -> known.add(new Who(entry.mode(), entry.holder())));
        }
        List<LockInfo.Entry> holders = new ArrayList<>();
        has.forEach((who, entries) -> {
            if (2 * entries.size() > servers) {
                holders.add(held(entries, servers / 2 + 1));
                known.remove(who);
            } else {
                known.add(who);
            }
        });
        List<LockInfo.Entry> waiters = known.stream()
                .map(who -> LockInfo.Entry.of(who.mode(), who.holder()))
                .toList();
        return LockInfo.of(name, holders, waiters);
    }

    /** A holder: with its newest token, and until so few servers are left to it that they are no majority. */
    private static LockInfo.Entry held(List<LockInfo.Entry> entries, int majority) {
        LockInfo.Entry newest = entries.stream()
                .max((a, b) -> Long.compare(a.token().orElse(0), b.token().orElse(0)))
                .orElseThrow();
        return entries.stream()
                .flatMap(entry -> entry.remaining().stream())
                .sorted(Comparator.reverseOrder())
                .skip(majority - 1)
                .findFirst()
                .map(newest::withRemaining)
                .orElse(newest);
    }

    static List<LockInfo> mergeAll(List<List<LockInfo>> lists) {
        Map<String, List<LockInfo>> byName = new LinkedHashMap<>();
        lists.forEach(list -> list.forEach(info ->
                byName.computeIfAbsent(info.name(), unused -> new ArrayList<>()).add(info)));
        List<LockInfo> all = new ArrayList<>();
        byName.forEach((name, infos) -> all.add(merge(name, infos, lists.size())));
        all.removeIf(info -> info.holders().isEmpty() && info.waiters().isEmpty());
        return all;
    }
}
