package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** When a user logs in, and when not. */
class LoginTest {
    private final List<CompletableFuture<String>> asked = new ArrayList<>();
    private final List<Boolean> locked = new ArrayList<>();
    private final Login login = new Login("user", () -> "s3cret", credentials -> ask());

    private CompletableFuture<String> ask() {
        locked.add(Thread.holdsLock(login()));
        CompletableFuture<String> answer = new CompletableFuture<>();
        asked.add(answer);
        return answer;
    }

    private Login login() {
        return login;
    }

    @Test
    void thereIsOneLoginAtATimeAndNoLockIsHeldMeanwhile() {
        CompletableFuture<String> first = login.token();
        CompletableFuture<String> second = login.token();
        assertThat(asked).hasSize(1);
        asked.get(0).complete("token");
        assertThat(first).isCompletedWithValue("token");
        assertThat(second).isCompletedWithValue("token");
        assertThat(login.token()).isCompletedWithValue("token");
        assertThat(asked).hasSize(1);
        assertThat(locked).containsExactly(false);
    }

    @Test
    void aLoginThatFailedIsTriedAgainByTheNextRequest() {
        CompletableFuture<String> first = login.token();
        asked.get(0).completeExceptionally(new IllegalStateException());
        assertThat(first).isCompletedExceptionally();
        CompletableFuture<String> second = login.token();
        asked.get(1).complete("token");
        assertThat(second).isCompletedWithValue("token");
    }

    @Test
    void aTokenThatWasRefusedIsForgottenOnce() {
        login.token();
        asked.get(0).complete("old");
        login.refused("old");
        login.token();
        asked.get(1).complete("new");
        login.refused("old"); // by a request that was sent before
        assertThat(login.token()).isCompletedWithValue("new");
        assertThat(asked).hasSize(2);
    }
}
