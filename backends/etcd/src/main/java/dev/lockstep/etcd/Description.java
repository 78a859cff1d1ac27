package dev.lockstep.etcd;

import dev.lockstep.EngineInfo;
import dev.lockstep.etcd.proto.Etcd.MemberListRequest;
import dev.lockstep.etcd.proto.Etcd.MemberListResponse;
import dev.lockstep.etcd.proto.Etcd.StatusRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Describes the guarantees of locks on a cluster with its current settings. */
final class Description {
    private Description() {}

    /** Asks the member that requests go to. */
    static CompletableFuture<EngineInfo> of(Link link, Keys keys, Duration ttl) {
        CompletableFuture<History> history = link.call(Rpc.STATUS, StatusRequest.getDefaultInstance())
                .thenCompose(status -> History.of(link, keys, status));
        CompletableFuture<Integer> members = link.call(Rpc.MEMBER_LIST, MemberListRequest.getDefaultInstance())
                .thenApply(MemberListResponse::getMembersCount);
        return history.thenCombine(members, (known, count) -> make(known, count, ttl));
    }

    private static EngineInfo make(History history, int members, Duration ttl) {
        String version = history.status().getVersion();
        return EngineInfo.of("etcd", version)
                .withGuarantees(guarantees(ttl))
                .withLimits(limits(version, members, history));
    }

    private static List<String> guarantees(Duration ttl) {
        return List.of(
                "One holder at a time, as long as a majority of the members keeps what it has confirmed.",
                "A crashed holder's lock is free " + (ttl.toMillis() + 999) / 1_000
                        + " s after its last keepalive, later if the leader changes. A holder learns of a loss before"
                        + " that.",
                "First come, first served. A release wakes one waiter, or the readers next in line.",
                "Tokens rise, over restarts and a change of the leader too. The time of day does not matter.");
    }

    private static List<String> limits(String version, int members, History history) {
        List<String> limits = new ArrayList<>();
        if (members == 1) {
            limits.add("One member alone: while it is down, nothing is granted, and holds end at their deadlines.");
        } else {
            limits.add("Of " + members + " members " + (members / 2 + 1) + " must be up for anything to be granted.");
        }
        limits.add(history.sentence());
        limits.add("A cluster restored from an older backup can repeat tokens.");
        if (version.startsWith("3.4.") || version.startsWith("3.5.")) {
            limits.add("Releases from before February 2024 can end leases too early when the leader's disk blocks for"
                    + " longer than the ttl (etcd #15247); the token and the guard still protect the data.");
        }
        return limits;
    }
}
