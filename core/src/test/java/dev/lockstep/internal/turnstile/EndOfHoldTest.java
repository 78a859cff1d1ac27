package dev.lockstep.internal.turnstile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.Heard;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import dev.lockstep.logs.ThreadLogs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** A hold has exactly one end, and listeners, actions and the caller hear of the same one. */
class EndOfHoldTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final Heard heard = new Heard();
    private final Client client = fixture.open(List.of(heard));
    private final DistributedLock lock = client.lock("a");
    private final List<LossReason> actions = new ArrayList<>();

    private Lease acquire() {
        CompletableFuture<Lease> acquiring = lock.acquireAsync();
        engine.claims.get(engine.claims.size() - 1).grant();
        Lease lease = TurnstileFixture.get(acquiring);
        lease.onLost(actions::add);
        return lease;
    }

    @Test
    void isReleasedWhenTheEngineSaysSo() {
        CompletableFuture<Void> closed = acquire().closeAsync();
        assertThat(heard.events).containsExactly("acquired");
        engine.grant(0).released.complete(true);
        TurnstileFixture.get(closed);
        assertThat(heard.events).containsExactly("acquired", "released");
        assertThat(actions).isEmpty();
    }

    @Test
    void isLoggedIfItIsNotConfirmedButNotOnceForEachLockOfAnOutage() {
        List<String> warnings = new ArrayList<>();
        ThreadLogs.onWarning(warnings::add);
        try {
            for (int i = 0; i < 100; i++) {
                acquire().closeAsync();
                engine.grant(i).released.completeExceptionally(new LockUnavailableException("a", "no answer"));
            }
        } finally {
            ThreadLogs.onWarning(null);
        }
        assertThat(warnings)
                .hasSize(20)
                .allSatisfy(line -> assertThat(line)
                        .contains(
                                "event=unconfirmed",
                                "lock=a",
                                "client=",
                                "engine=",
                                "durationMs=0",
                                "no answer",
                                "after the ttl"));
    }

    @Test
    void isALossThatTheReleaseDiscovers() {
        CompletableFuture<Void> closed = acquire().closeAsync();
        engine.grant(0).released.complete(false);
        assertThat(heard.events).containsExactly("acquired", "lost REVOKED");
        assertThat(actions).containsExactly(LossReason.REVOKED);
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(closed::join)
                .withCauseInstanceOf(LockLostException.class);
    }

    @Test
    void namesTheHostsOfTheEngineThatRevokedTheLock() {
        engine.address = "db-1:6379, db-2:6379";
        Lease lease = acquire();
        engine.grant(0).signalLost(LossReason.REVOKED);
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lease::ensureValid)
                .withMessageContaining("the engine no longer knows it (engine at db-1:6379, db-2:6379).");
    }

    @Test
    void namesNoHostsIfTheEngineHadNoPartInTheLoss() {
        engine.address = "db-1:6379";
        Lease lease = acquire();
        client.close();
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lease::ensureValid)
                .withMessageContaining("its client was closed.");
    }

    @Test
    void isUnconfirmedAfterTheRequestTimeout() {
        CompletableFuture<Void> closed = acquire().closeAsync();
        fixture.time.advance(TurnstileFixture.REQUEST_TIMEOUT);
        assertThat(heard.events).containsExactly("acquired", "unconfirmed");
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(closed::join)
                .withCauseInstanceOf(ReleaseNotConfirmedException.class);
        engine.grant(0).released.complete(false);
        assertThat(heard.events).containsExactly("acquired", "unconfirmed");
        assertThat(actions).isEmpty();
    }

    /** The claim of another call that gave up is waited for, too, but is not part of the hold. */
    @Test
    void isReleasedThoughAWithdrawalIsNotConfirmed() {
        DistributedLock unheard = fixture.open(Duration.ofMillis(100)).lock("a");
        CompletableFuture<Lease> waiting = unheard.acquireAsync();
        engine.answersAtOnce = true;
        assertThat(unheard.tryLock()).isTrue();
        engine.answersAtOnce = false;
        waiting.cancel(false);
        assertThat(engine.claim(0).withdrawals).isEqualTo(1);
        engine.answersAtOnce = true;
        assertThatNoException().isThrownBy(unheard::unlock);
        assertThat(engine.claim(0).withdrawn).isNotDone();
    }

    @Test
    void isUnconfirmedIfTheBackendFails() {
        CompletableFuture<Void> closed = acquire().closeAsync();
        IllegalStateException failure = new IllegalStateException("no answer");
        engine.grant(0).released.completeExceptionally(failure);
        assertThat(heard.events).containsExactly("acquired", "unconfirmed");
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(closed::join)
                .withRootCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void comesBeforeTheNextHold() {
        Lease lease = acquire();
        CompletableFuture<Lease> next = lock.acquireAsync();
        engine.grant(0).signalWanted();
        client.lock("a", LockOptions.defaults().handOff(0)).acquireAsync();
        lease.closeAsync();
        TurnstileFixture.get(next);
        assertThat(heard.events).containsExactly("acquired", "released", "handed off", "acquired");
    }

    @Test
    void comesBeforeTheNextHoldThatTheEngineGrants() {
        Lease lease = acquire();
        engine.grant(0).signalWanted();
        CompletableFuture<Lease> next =
                client.lock("a", LockOptions.defaults().handOff(0)).acquireAsync();
        lease.closeAsync();
        engine.answersAtOnce = true;
        engine.grant(0).released.complete(true);
        TurnstileFixture.get(next);
        assertThat(heard.events).containsExactly("acquired", "released", "acquired");
    }

    @Test
    void isExpiredIfItsDeadlineHadPassedWhenTheEngineNoLongerHadIt() {
        DistributedLock unheard = fixture.open(List.of()).lock("b");
        engine.answersAtOnce = true;
        unheard.lock();
        engine.answersAtOnce = false;
        engine.whileReleasing = () -> {
            fixture.time.pause(ScriptedBackend.VALIDITY.plus(Duration.ofMillis(1)));
            engine.grant(0).released.complete(false);
        };
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(unheard::unlock)
                .satisfies(lost -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));
    }
}
