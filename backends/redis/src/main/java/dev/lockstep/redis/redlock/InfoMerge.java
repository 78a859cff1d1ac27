package dev.lockstep.redis.redlock;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Merges the answers of several servers about locks: the claim that has most servers holds, all others wait. */
final class InfoMerge {
    private InfoMerge() {}

    /** The identity of a claim, and its request. */
    private record Who(LockMode mode, HolderInfo holder, Optional<String> claim) {
        static Who of(LockInfo.Entry entry) {
            return new Who(entry.mode(), entry.holder(), entry.claim());
        }

        LockInfo.Entry waiting() {
            LockInfo.Entry entry = LockInfo.Entry.of(mode, holder);
            return claim.map(entry::withClaim).orElse(entry);
        }
    }

    static LockInfo merge(String name, List<LockInfo> infos) {
        return merge(name, infos, infos.size());
    }

    private static LockInfo merge(String name, List<LockInfo> infos, int servers) {
        Map<Who, List<LockInfo.Entry>> has = new LinkedHashMap<>();
        Set<Who> known = new LinkedHashSet<>();
        for (LockInfo info : infos) {
            for (LockInfo.Entry entry : info.holders()) {
                has.computeIfAbsent(Who.of(entry), unused -> new ArrayList<>()).add(entry);
            }
            info.waiters().forEach(entry -> known.add(Who.of(entry)));
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
        return LockInfo.of(name, holders, known.stream().map(Who::waiting).toList());
    }

    /**
     * A holder: with its newest token, with what most of its servers say that it waits for, and until so few servers are left
     * to it that they are no majority.
     */
    private static LockInfo.Entry held(List<LockInfo.Entry> entries, int majority) {
        LockInfo.Entry newest = entries.stream()
                .max(Comparator.<LockInfo.Entry>comparingInt(entry -> supporters(entries, entry.waitsFor()))
                        .thenComparingLong(entry -> entry.token().orElse(0)))
                .map(entry -> entry.withToken(entries.stream()
                        .mapToLong(other -> other.token().orElse(0))
                        .max()
                        .orElseThrow()))
                .orElseThrow();
        LockInfo.Entry granted = entries.stream()
                .flatMap(entry -> entry.granted().stream())
                .max(Comparator.naturalOrder())
                .map(newest::withGranted)
                .orElse(newest);
        return entries.stream()
                .flatMap(entry -> entry.remaining().stream())
                .sorted(Comparator.reverseOrder())
                .skip(majority - 1)
                .findFirst()
                .map(granted::withRemaining)
                .orElse(granted);
    }

    private static int supporters(List<LockInfo.Entry> entries, Optional<LockInfo.Wait> wait) {
        return (int)
                entries.stream().filter(entry -> entry.waitsFor().equals(wait)).count();
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
