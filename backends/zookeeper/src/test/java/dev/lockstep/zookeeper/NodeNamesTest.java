package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockMode;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeNamesTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "a/b",
                "/",
                ".",
                "..",
                "...",
                ".a",
                "a.",
                "%",
                "%61",
                "a b",
                "zookeeper",
                "订单",
                "🔒",
                "\ue000",
                "é"
            })
    void anyNameMakesAPathAndComesBack(String name) {
        String path = new Keys(name).lockPath(name);
        PathUtils.validatePath(path);
        assertThat(path.chars().filter(c -> c == '/').count()).isEqualTo(3);
        assertThat(Keys.decode(Keys.last(path))).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a%", "%4", "%zz", "a b", "é", "%61", "%2F"})
    void textThatWasNotEncodedThisWayIsNotDecoded(String node) {
        assertThat(Keys.decode(node)).isNull();
    }

    @Test
    void aPlaceInTheQueueComesBackFromItsName() {
        for (boolean waits : new boolean[] {true, false}) {
            for (ClaimKind kind : List.of(
                    ClaimKind.lock(LockMode.EXCLUSIVE, waits),
                    ClaimKind.lock(LockMode.SHARED, waits),
                    new ClaimKind(LockMode.SHARED, OptionalInt.of(1), 1, waits),
                    new ClaimKind(LockMode.SHARED, OptionalInt.of(Integer.MAX_VALUE), 12, waits))) {
                String name = QueueNode.prefix(kind, "Client-Id_x.1.2.3") + "0000000042";
                assertThat(QueueNode.parse(name)).isEqualTo(new QueueNode(name, kind, "Client-Id_x.1.2.3", 42));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "::",
                "w::1",
                "w:a:",
                "w:a:b",
                "q:a:1",
                "t:a:1",
                "s:a:1",
                "s0:a:1",
                "s5x:a:1",
                "s5x0:a:1",
                "s2147483648:a:1",
                "w:1",
                "lock-0000000001",
                "w:a:99999999999"
            })
    void aForeignNodeIsNoPlaceInTheQueue(String name) {
        assertThat(QueueNode.parse(name)).isNull();
    }

    @Test
    void theQueueIsInTheOrderOfArrival() {
        // The last three came when the counter was used up, and are distinguished by their age.
        Map<String, Long> ages = Map.of("w:e:2147483647", 100L, "r:f:-2147483648", 101L, "w:a:2147483647", 102L);
        assertThat(QueueNode.queue(
                        List.of(
                                "w:a:2147483647",
                                "r:f:-2147483648",
                                "else",
                                "w:d:2147483646",
                                "w:b:0000000007",
                                "tr:c:0000000010",
                                "w:e:2147483647"),
                        ages))
                .extracting(QueueNode::key)
                .containsExactly("b", "c", "d", "e", "f", "a");
    }
}
