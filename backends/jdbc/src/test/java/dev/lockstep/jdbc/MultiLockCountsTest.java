package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cost of many locks taken at once, in statements. */
class MultiLockCountsTest {
    @Test
    void eachOfManyLocksCostsAStatementToTakeAndOneToRelease(@TempDir Path folder) {
        List<String> names = IntStream.range(0, 20).mapToObj(i -> "many-" + i).toList();
        try (TestClient client = TestClient.open("jdbc:sqlite:" + folder.resolve("locks.db"), "counts")) {
            DistributedLock locks = client.client().multiLock(names, LockOptions.defaults());
            locks.lock(); // makes their rows
            locks.unlock();
            client.sent();
            locks.lock();
            assertThat(ofLocks(client)).hasSize(20);
            locks.unlock();
            assertThat(ofLocks(client)).hasSize(20);
        }
    }

    /** The statements since the last call, without those of the session. */
    private static List<String> ofLocks(TestClient client) {
        return client.sent().stream()
                .filter(sql -> sql.contains("lockstep_locks") || sql.contains("lockstep_claims"))
                .toList();
    }
}
