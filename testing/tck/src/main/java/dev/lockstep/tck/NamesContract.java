package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Names are data: whatever is in them, no two are one lock, and none leaves its namespace. */
abstract class NamesContract extends ContractGroup {
    NamesContract(LockContract contract) {
        super(contract);
    }

    /** Names that have confused some engine or another, by kind; a space parts them. */
    private static final String AWKWARD_NAMES = """
            a a/ a/b a//b /a / // . .. ../a a/.. a/b/c ab a-b a_b a.b
            A A/b ß ss SS é e\u0301 İ i\u0307 ı ﬁ fi ａ Straße STRASSE ２ 2 02 2.0
            {a} {a}b {} { } a{b}c }{ * a* ? a? [a] % %% %61 a%2Fb %s _ \\ a\\b \\u0061 $ ${a} #{a} # & + a+b
            : a:b :: ; = @ ~ ^ | <a> lockstep lockstep:a 0000000000 a0000000001 -1 null
            ' '' " ` ';DROP a'-- /*a*/
            订单:42 注文 заказ الطلب הזמנה คำสั่ง 🔒 👩‍👩‍👧 a🔒 𝒶 \ue000 \ufffd a\u200b
            """;

    /** All of them, and those with spaces or of the greatest length; all different, and to be held all at once. */
    static List<String> awkwardNames() {
        List<String> names = new ArrayList<>(List.of(AWKWARD_NAMES.trim().split("[ \n]+")));
        names.addAll(List.of(" ", " a", "a ", "a  ", "a b", "' OR '1'='1", "'; DROP TABLE locks; --", "a' --"));
        names.addAll(List.of("a\u00a0", "\u2028", "\ufeff"));
        names.add("x".repeat(512));
        names.add("x".repeat(511) + "y");
        names.add("x".repeat(511));
        names.add("é".repeat(256));
        names.add("单".repeat(170) + "ab");
        names.add("🔒".repeat(128));
        names.add("/".repeat(512));
        names.add("%".repeat(512));
        names.add("'".repeat(512));
        return names;
    }

    private static List<String> someOfThem() {
        return List.of(
                "a/b",
                "..",
                "/",
                "{a}",
                "%",
                "' OR '1'='1",
                " ",
                "é",
                "订单:42",
                "👩‍👩‍👧",
                "x".repeat(512),
                "🔒".repeat(128));
    }

    @Test
    void anyNameMakesALock() throws Exception {
        forEach(someOfThem(), name -> {
            DistributedLock lock = client().lock(name);
            assertThat(lock.name()).isEqualTo(name);
            try (Lease lease = lock.acquire()) {
                assertThat(lease.lockName()).isEqualTo(name);
                assertThat(rival().lock(name).tryLock()).isFalse();
                assertThat(rival().inspect(name).name()).isEqualTo(name);
                assertThat(rival().inspect(name).holders()).hasSize(1);
                assertThat(rival().list(name)).extracting(LockInfo::name).containsExactly(name);
            }
            Lease taken = lock.acquireAsync().get();
            long token = taken.token();
            CompletableFuture<Lease> waiting = rival().lock(name).acquireAsync();
            bench().awaitWaiters(name, 1);
            assertThat(rival().forceRelease(name)).isTrue();
            Lease next = waiting.get(20, TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(token);
            assertThatThrownBy(taken::close)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            lost -> assertThat(lost.lockName()).isEqualTo(name));
            next.close();
        });
    }

    @Test
    void noTwoNamesAreOneLock() {
        List<String> names = awkwardNames();
        assertThat(names).doesNotHaveDuplicates();
        for (String name : names) {
            assertThat(client().lock(name).tryLock()).as("lock '%s'", name).isTrue();
        }
        assertThat(rival().list("")).extracting(LockInfo::name).containsExactlyInAnyOrderElementsOf(names);
        for (String name : names) {
            assertThat(rival().inspect(name).holders()).as("lock '%s'", name).hasSize(1);
            client().lock(name).unlock();
            assertThat(bench().isFree(name)).as("lock '%s'", name).isTrue();
        }
    }

    @Test
    void theyAreListedByPrefixExactly() {
        List<String> names = awkwardNames();
        for (String name : names) {
            client().lock(name).lock();
        }
        for (String prefix : List.of("a", "a/", "A", "%", "_", "*", "{", "'", "\\", "é", "x", "🔒", " ", "no such")) {
            assertThat(rival().list(prefix))
                    .as("prefix '%s'", prefix)
                    .extracting(LockInfo::name)
                    .containsExactlyInAnyOrderElementsOf(names.stream()
                            .filter(name -> name.startsWith(prefix))
                            .toList());
        }
        for (String name : names) {
            client().lock(name).unlock();
        }
        assertThat(rival().list("")).isEmpty();
    }

    @Test
    void noNameLeavesItsNamespace() {
        // Whatever joins a namespace and a name, the joints must not be taken for each other.
        String base = bench().namespace().substring(0, 20);
        List<LockClient> spaces = new ArrayList<>();
        for (String tail : List.of("", "/a", ":a", "{a}", "%", ".", "..", "_", "'", " ", "é")) {
            spaces.add(open(builder -> builder.namespace(base + tail)));
        }
        for (LockClient space : spaces) {
            for (String name : List.of("a", "a/a", ":a", "/a", "..", "../a", "%", "{a}")) {
                assertThat(space.lock(name).tryLock()).as("lock '%s'", name).isTrue();
            }
            assertThat(space.list("")).hasSize(8);
        }
        spaces.get(0).close();
        for (LockClient space : spaces.subList(1, spaces.size())) {
            assertThat(space.list("")).hasSize(8);
            space.close();
        }
    }
}
