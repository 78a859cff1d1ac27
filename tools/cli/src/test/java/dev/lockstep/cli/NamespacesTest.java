package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.cli.MainTest.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A command in the wrong namespace says where the locks are, and does not look like a success. */
class NamespacesTest {
    private final String url = "memory:cli-" + UUID.randomUUID();
    private final LockClient shop = LockClient.builder()
            .url(url)
            .namespace("shop")
            .clientName("cashier")
            .connect();
    private Lease lease;

    @BeforeEach
    void hold() throws InterruptedException {
        lease = shop.lock("order:1").acquire();
    }

    @AfterEach
    void close() {
        shop.close();
    }

    @Test
    void releaseThatFindsTheLockElsewhereFails() {
        Run run = Run.of("release", "--url", url, "--force", "--yes", "order:1");
        assertThat(run.code()).isEqualTo(ExitCodes.BUSY);
        assertThat(run.err())
                .contains("nothing was released")
                .contains("free in namespace 'lockstep'")
                .contains("'shop'")
                .contains("--namespace");
        assertThat(run.out()).isEmpty();
        assertThat(Run.of("release", "--url", url, "--force", "--yes", "--json", "order:1")
                        .out()
                        .strip())
                .isEqualTo("{\"name\":\"order:1\",\"released\":false}");
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void releaseOfALockThatIsFreeEverywhereSucceeds() {
        Run run = Run.of("release", "--url", url, "--force", "--yes", "order:2");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).startsWith("free already");
    }

    /** The lock that is meant may be in one of those; but nothing says so, and the command's own namespace is right as a rule. */
    @Test
    void releaseSaysIfItDidNotLookAtAllNamespaces() {
        List<LockClient> others = new ArrayList<>();
        try {
            for (int i = 0; i < 102; i++) {
                LockClient other =
                        LockClient.builder().url(url).namespace("other-" + i).connect();
                others.add(other);
                other.lock("used").lock();
            }
            Run run = Run.of("release", "--url", url, "--force", "--yes", "order:2");
            assertThat(run.code()).as(run.err()).isZero();
            assertThat(run.out()).startsWith("free already");
            assertThat(run.err())
                    .contains("'order:2' is free in namespace 'lockstep'", "3 other namespaces were not looked at");
            Run json = Run.of("release", "--url", url, "--force", "--yes", "--json", "order:2");
            assertThat(json.out().strip()).isEqualTo("{\"name\":\"order:2\",\"released\":false}");
        } finally {
            others.forEach(LockClient::close);
        }
    }

    @Test
    void inspectSaysWhereTheLockIs() {
        Run run = Run.of("inspect", "--url", url, "order:1");
        assertThat(run.code()).isZero();
        assertThat(run.out()).startsWith("free");
        assertThat(run.err()).contains("'order:1'").contains("'shop'").contains("--namespace");
        assertThat(Run.of("inspect", "--url", url, "order:2").err()).isEmpty();
        Run json = Run.of("inspect", "--url", url, "--json", "order:1");
        assertThat(json.out().strip()).isEqualTo("{\"name\":\"order:1\",\"holders\":[],\"waiters\":[]}");
    }

    @Test
    void lsThatFindsNothingSaysWhereLocksAre() {
        Run run = Run.of("ls", "--url", url, "order:");
        assertThat(run.code()).isZero();
        assertThat(run.out().lines()).hasSize(1);
        assertThat(run.err()).contains("'shop'").contains("--all-namespaces");
        assertThat(Run.of("ls", "--url", url, "--namespace", "shop").err()).isEmpty();
        assertThat(Run.of("ls", "--url", url, "stock:").err()).isEmpty();
    }

    @Test
    void allNamespacesAreListed() throws InterruptedException {
        try (LockClient client = LockClient.connect(url);
                Lease other = client.lock("order:2").acquire()) {
            assertThat(other.isValid()).isTrue();
            assertThat(Run.of("ls", "--url", url, "--all-namespaces").out())
                    .startsWith("NAMESPACE  NAME ")
                    .containsPattern("(?m)^shop +order:1 ")
                    .containsPattern("(?m)^lockstep +order:2 ");
            assertThat(Run.of("ls", "--url", url, "-A", "--json", "order:1").out())
                    .startsWith("[{\"namespace\":\"shop\",\"name\":\"order:1\",\"holders\":[{");
            assertThat(Run.of("watch", "--url", url, "-A", "-n", "1").out())
                    .containsPattern("(?m)^shop +order:1 +holder")
                    .containsPattern("(?m)^lockstep +order:2 +holder");
        }
    }

    @Test
    void aLockIsInspectedInAllNamespaces() throws InterruptedException {
        try (LockClient client = LockClient.connect(url);
                Lease other = client.lock("order:1").acquire()) {
            assertThat(other.isValid()).isTrue();
            assertThat(Run.of("inspect", "--url", url, "--all-namespaces", "order:1")
                            .out())
                    .startsWith("NAMESPACE  ROLE ")
                    .containsPattern("(?m)^shop +holder .*cashier")
                    .containsPattern("(?m)^lockstep +holder");
            assertThat(Run.of("inspect", "--url", url, "-A", "--json", "order:1")
                            .out())
                    .contains("{\"namespace\":\"shop\",\"name\":\"order:1\"", "{\"namespace\":\"lockstep\"");
            assertThat(Run.of("inspect", "--url", url, "-A", "nothing").out()).startsWith("free");
        }
    }
}
