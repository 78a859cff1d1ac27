package dev.lockstep.redis.redlock;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.redis.internal.Bytes;
import dev.lockstep.redis.internal.ClaimId;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.KeyScan;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.spi.AdminBackend;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** Operators' requests for one namespace on several independent servers. Safe for use by many threads. */
final class RedlockAdmin implements AdminBackend {
    private final RedlockBackend backend;
    private final String namespace;

    RedlockAdmin(RedlockBackend backend, String namespace) {
        this.backend = backend;
        this.namespace = namespace;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        Keys keys = new Keys(namespace, name);
        return backend.askAll(
                        name,
                        "inspect",
                        (member, deadline) -> member.operators().inspect(keys, deadline))
                .thenApply(infos -> InfoMerge.merge(name, infos));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return backend.askAll(
                        null,
                        "list",
                        (member, deadline) -> scan(member, deadline).locks(member.operators(), namespace, prefix))
                .thenApply(InfoMerge::mergeAll);
    }

    /** All locks on one page: the servers have no order in common that a cursor could follow. */
    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        if (!cursor.isEmpty()) {
            throw new IllegalArgumentException(
                    "Redlock lists its locks on a single page; the cursor '" + cursor + "' is unknown.");
        }
        return list(prefix).thenApply(LockPage::last);
    }

    private KeyScan scan(Member member, long deadlineNanos) {
        return new KeyScan(member.link(), backend.scheduler(), deadlineNanos);
    }

    /** The namespaces that a server knows: one that is away does not matter if others know them, too. */
    CompletionStage<List<String>> namespaces() {
        return backend.askAll(
                        null,
                        "list namespaces",
                        (member, deadline) -> scan(member, deadline).namespaces())
                .thenApply(
                        lists -> lists.stream().flatMap(List::stream).distinct().toList());
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        Keys keys = new Keys(namespace, name);
        return backend.askAll(
                        name,
                        "forceRelease",
                        (member, deadline) -> member.operators().forceRelease(keys, deadline))
                .thenApply(ended -> 2 * Collections.frequency(ended, true) > ended.size());
    }

    /**
     * Finds the claim that has the token first: some of its servers may not know the token, since a majority of them is
     * enough. Then each server compares the claim and ends its hold in one step.
     */
    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        Keys keys = new Keys(namespace, name);
        return backend.askAll(name, "forceRelease", (member, deadline) -> Owned.at(member, keys, deadline))
                .thenCompose(owned -> {
                    String holder = Owned.holder(owned, token);
                    return holder == null ? CompletableFuture.completedFuture(false) : end(keys, holder, token);
                });
    }

    private CompletableFuture<Boolean> end(Keys keys, String claim, long token) {
        byte[][] args = {Bytes.bytes(claim), Bytes.bytes(token)};
        return backend.askAll(keys.lockName(), "forceRelease", (member, deadline) ->
                        (Long) member.link().eval(Script.REDLOCK_FORCE, -1, keys.queued(), args, deadline))
                .thenApply(answers -> {
                    int kept = backend.size() - answers.size() + Collections.frequency(answers, -1L);
                    return answers.contains(1L) && kept < backend.majority();
                });
    }

    /** Which claim has a server, none if it is empty, and the last token that the server knows. */
    private record Owned(String claim, long token) {
        /** The claim that has the most servers, with the highest token that they know; null if there is none. */
        static @Nullable String holder(List<Owned> owned, long token) {
            Map<String, List<Owned>> claims = owned.stream().collect(Collectors.groupingBy(Owned::claim));
            for (Map.Entry<String, List<Owned>> claim : claims.entrySet()) {
                long highest =
                        claim.getValue().stream().mapToLong(Owned::token).max().orElse(0);
                if (!claim.getKey().isEmpty() && 2 * claim.getValue().size() > owned.size() && highest == token) {
                    return claim.getKey();
                }
            }
            return null;
        }

        static Owned at(Member member, Keys keys, long deadlineNanos) throws Failure {
            List<?> fields = (List<?>) member.link()
                    .call(
                            "inspect",
                            -1,
                            deadlineNanos,
                            connection -> connection.executeCommand(new CommandArguments(Protocol.Command.HMGET)
                                    .add(keys.lock())
                                    .add("owner")
                                    .add("token")));
            Object owner = fields.get(0);
            Object token = fields.get(1);
            return new Owned(
                    owner == null ? "" : ClaimId.claimOf(Bytes.text(owner)),
                    token == null ? 0 : Long.parseLong(Bytes.text(token)));
        }
    }
}
