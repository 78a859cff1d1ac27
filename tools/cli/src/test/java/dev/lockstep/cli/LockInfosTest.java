package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LeaderElection;
import dev.lockstep.LockClient;
import dev.lockstep.Permit;
import dev.lockstep.cli.MainTest.Run;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Semaphores and elections look like what they are, in tables and in JSON. */
class LockInfosTest {
    private final String url = "memory:cli-" + UUID.randomUUID();
    private final LockClient first =
            LockClient.builder().url(url).clientName("first").connect();
    private final LockClient second =
            LockClient.builder().url(url).clientName("second").connect();

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    private String run(String... args) {
        Run run = Run.of(args);
        assertThat(run.code()).as(run.err()).isZero();
        return run.out();
    }

    @Test
    void aSemaphoreShowsItsPermits() throws InterruptedException {
        DistributedSemaphore semaphore = first.semaphore("slow", 5);
        try (Permit two = semaphore.acquire(2);
                Permit one = second.semaphore("slow", 5).acquire()) {
            assertThat(two.isValid() && one.isValid()).isTrue();
            assertThat(run("ls", "--url", url)).contains("slow", "3 of 5 permits");
            assertThat(run("inspect", "--url", url, "slow")).contains("2 of 5 permits", "1 of 5 permits");
            assertThat(run("watch", "--url", url, "-n", "1")).contains("2 of 5 permits", "1 of 5 permits");
            assertThat(run("inspect", "--url", url, "--json", "slow"))
                    .contains("\"kind\":\"semaphore\",\"permits\":5")
                    .contains("\"mode\":\"shared\",\"permits\":2")
                    .contains("\"mode\":\"shared\",\"permits\":1");
        }
    }

    @Test
    void anElectionShowsItsLeaderAndCandidates() throws InterruptedException {
        CountDownLatch leads = new CountDownLatch(1);
        LeaderElection leader = first.election("scheduler", "10.0.0.1:80", term -> {
            leads.countDown();
            new CountDownLatch(1).await();
        });
        leads.await();
        LeaderElection candidate = second.election("scheduler", "10.0.0.2:80", term -> {});
        assertThat(run("ls", "--url", url)).contains("scheduler", "leader");
        assertThat(run("inspect", "--url", url, "scheduler")).contains("leader", "candidate", "10.0.0.1:80");
        assertThat(run("watch", "--url", url, "-n", "1")).contains("leader", "candidate");
        assertThat(run("ls", "--url", url, "--json")).contains("\"kind\":\"election\"");
        candidate.close();
        leader.close();
    }

    @Test
    void execNamesWhatIsBusy() throws InterruptedException {
        try (Permit permit = first.semaphore("slow", 1).acquire()) {
            assertThat(permit.isValid()).isTrue();
            Run busy = Run.of("exec", "--url", url, "--permits", "1", "--try", "slow", "--", "true");
            assertThat(busy.code()).isEqualTo(ExitCodes.BUSY);
            assertThat(busy.err()).contains("all permits of semaphore 'slow' are in use");
        }
    }
}
