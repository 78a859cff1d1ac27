package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockListener;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** Input that cannot work is refused with a clear and typed error, and harms nothing. */
abstract class BadInputContract extends ContractGroup {
    private static final Duration NEGATIVE = Duration.ofMillis(-1);
    private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    BadInputContract(LockContract contract) {
        super(contract);
    }

    private static List<String> badNames() {
        return List.of(
                "",
                "x".repeat(513),
                "é".repeat(257),
                "单".repeat(171),
                "🔒".repeat(128) + "x",
                "\n",
                "a\nb",
                "\0",
                "a\0",
                "a\tb",
                "\r",
                "\u001b[0m",
                "\u007f",
                "a\u0085b",
                "\u009f",
                "\ud800",
                "a\udc00",
                "\udc00\ud800",
                "a\ud83d");
    }

    @Test
    void aBadNameIsRefused() throws Exception {
        forEach(badNames(), name -> {
            LockOptions options = LockOptions.defaults();
            refused(IllegalArgumentException.class, () -> client().lock(name));
            refused(IllegalArgumentException.class, () -> client().lock(name, options));
            refused(IllegalArgumentException.class, () -> client().multiLock("a", name));
            refused(IllegalArgumentException.class, () -> client().multiLock(List.of(name), options));
            refused(IllegalArgumentException.class, () -> client().inspect(name));
            refused(IllegalArgumentException.class, () -> client().forceRelease(name));
            refused(IllegalArgumentException.class, () -> client().template().execute(name, lease -> 1));
            refused(IllegalArgumentException.class, () -> LockClient.builder().clientName(name));
            refused(IllegalArgumentException.class, () -> LockClient.builder().namespace(name));
            if (fixture().capabilities().contains(Capability.SHARED)) {
                refused(IllegalArgumentException.class, () -> client().readWriteLock(name));
                refused(IllegalArgumentException.class, () -> client().readWriteLock(name, options));
            }
        });
    }

    @Test
    void aLongNamespaceIsRefused() {
        LockClient.builder().namespace("x".repeat(64));
        refused(IllegalArgumentException.class, () -> LockClient.builder().namespace("x".repeat(65)));
        refused(IllegalArgumentException.class, () -> LockClient.builder().namespace("é".repeat(33)));
    }

    @Test
    @NullUnmarked
    void nullIsRefused() {
        LockOptions options = LockOptions.defaults();
        refused(NullPointerException.class, () -> client().lock(null));
        refused(NullPointerException.class, () -> client().lock(null, options));
        refused(NullPointerException.class, () -> client().lock(NAME, null));
        refused(NullPointerException.class, () -> client().readWriteLock(null));
        refused(NullPointerException.class, () -> client().readWriteLock(NAME, null));
        refused(NullPointerException.class, () -> client().multiLock((String[]) null));
        refused(NullPointerException.class, () -> client().multiLock("a", null));
        refused(NullPointerException.class, () -> client().multiLock(Arrays.asList("a", null), options));
        refused(NullPointerException.class, () -> client().multiLock(null, options));
        refused(NullPointerException.class, () -> client().multiLock(List.of("a"), null));
        refused(NullPointerException.class, () -> client().template(null));
        refused(NullPointerException.class, () -> client().template().execute((String) null, lease -> 1));
        refused(NullPointerException.class, () -> client().template().execute(NAME, null));
        refused(NullPointerException.class, () -> client().template().waitAtMost(null));
        refused(NullPointerException.class, () -> client().inspect(null));
        refused(NullPointerException.class, () -> client().list(null));
        refused(NullPointerException.class, () -> client().forceRelease(null));
        refused(NullPointerException.class, () -> lock().tryLock(1, null));
        refused(NullPointerException.class, () -> lock().tryAcquire(null));
        refused(NullPointerException.class, () -> lock().tryAcquireAsync(null));
        refused(NullPointerException.class, () -> options.maxHold(null));
        refused(NullPointerException.class, () -> options.sticky(null));
        refused(NullPointerException.class, () -> LockClient.connect(null));
        refused(NullPointerException.class, () -> LockClient.builder().url(null));
        refused(NullPointerException.class, () -> LockClient.builder().backend(null));
        refused(NullPointerException.class, () -> LockClient.builder().namespace(null));
        refused(NullPointerException.class, () -> LockClient.builder().ttl(null));
        refused(NullPointerException.class, () -> LockClient.builder().requestTimeout(null));
        refused(NullPointerException.class, () -> LockClient.builder().retryBackoff(null, Duration.ofSeconds(1)));
        refused(NullPointerException.class, () -> LockClient.builder().retryBackoff(Duration.ofSeconds(1), null));
        refused(NullPointerException.class, () -> LockClient.builder().clientName(null));
        refused(NullPointerException.class, () -> LockClient.builder().executor(null));
        refused(NullPointerException.class, () -> LockClient.builder().leakDetection(null));
        refused(NullPointerException.class, () -> LockClient.builder().listener(null));
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    @NullUnmarked
    void nullIsRefusedByALease() throws Exception {
        try (Lease lease = lock().acquire()) {
            refused(NullPointerException.class, () -> lease.onLost(null));
            refused(NullPointerException.class, () -> lease.token(null));
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void aDurationThatMakesNoSenseIsRefused() {
        for (Duration bad : List.of(Duration.ZERO, NEGATIVE)) {
            refused(IllegalArgumentException.class, () -> LockOptions.defaults().maxHold(bad));
            refused(IllegalArgumentException.class, () -> LockOptions.defaults().minHold(bad));
            refused(IllegalArgumentException.class, () -> LockOptions.defaults().sticky(bad));
            refused(IllegalArgumentException.class, () -> LockClient.builder().leakDetection(bad));
            refused(IllegalArgumentException.class, () -> LockClient.builder().ttl(bad));
            refused(IllegalArgumentException.class, () -> LockClient.builder().requestTimeout(bad));
            refused(
                    IllegalArgumentException.class,
                    () -> LockClient.builder().retryBackoff(bad, Duration.ofSeconds(1)));
            refused(
                    IllegalArgumentException.class,
                    () -> LockClient.builder().retryBackoff(Duration.ofSeconds(1), bad));
        }
        refused(
                IllegalArgumentException.class,
                () -> LockClient.builder().retryBackoff(Duration.ofSeconds(2), Duration.ofSeconds(1)));
        refused(IllegalArgumentException.class, () -> LockOptions.defaults().handOff(-1));
        assertThat(bench().isFree(NAME)).isTrue();
    }

    /** A duration that is counted from a moment must have an end that can be counted. */
    @Test
    void aTtlOrTimeoutWithoutEndIsRefused() {
        for (Duration bad : List.of(FOREVER, Duration.ofDays(400))) {
            refused(IllegalArgumentException.class, () -> LockClient.builder().ttl(bad));
            refused(IllegalArgumentException.class, () -> LockClient.builder().requestTimeout(bad));
            refused(
                    IllegalArgumentException.class,
                    () -> LockClient.builder().retryBackoff(Duration.ofSeconds(1), bad));
        }
        assertThatThrownBy(() -> LockClient.builder().ttl(FOREVER)).hasMessageContaining("ttl");
    }

    /** Engines and drivers count in milliseconds, and some take none for no limit. */
    @Test
    void aTimeoutBelowAMillisecondIsRefused() {
        Duration bad = Duration.ofNanos(1);
        refused(IllegalArgumentException.class, () -> LockClient.builder().requestTimeout(bad));
        refused(IllegalArgumentException.class, () -> LockClient.builder().retryBackoff(bad, Duration.ofSeconds(1)));
    }

    @Test
    void aHoldMayBeBoundedByForever() throws Exception {
        forEach(Way.all(), way -> {
            DistributedLock lock = client().lock(NAME, LockOptions.defaults().maxHold(FOREVER));
            Way.Hold hold = way.take(lock, Duration.ofSeconds(10)).orElseThrow();
            assertThat(bench().isFree(NAME)).isFalse();
            hold.release();
            assertThat(bench().isFree(NAME)).isTrue();
        });
    }

    @Test
    void aHoldThatMayLastForANanosecondIsLost() throws Exception {
        forEach(Way.all(), way -> {
            DistributedLock lock = client().lock(NAME, LockOptions.defaults().maxHold(Duration.ofNanos(1)));
            Way.Hold hold = way.take(lock, Duration.ofSeconds(10)).orElseThrow();
            assertThatThrownBy(hold::release).isInstanceOf(LockLostException.class);
            bench().awaitFree(NAME);
        });
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void aStickyLockMayStayForever() throws Exception {
        DistributedLock lock = client().lock(NAME, LockOptions.defaults().sticky(FOREVER));
        for (int i = 0; i < 3; i++) {
            lock.lock();
            lock.unlock();
        }
        rivalLock().lock();
        rivalLock().unlock();
    }

    @Test
    void aWaitMayLastForever() throws Exception {
        Lease held = rivalLock().acquireAsync().get();
        Call<Boolean> waiting = actor("waiter")
                .starts(() -> client().template().waitAtMost(FOREVER).execute(NAME, lease -> 1));
        bench().awaitWaiters(NAME, 1);
        held.close();
        waiting.get();
    }

    @Test
    void aFairLockCannotBeSticky() {
        LockOptions fair = LockOptions.defaults().fair();
        LockOptions sticky = LockOptions.defaults().sticky(Duration.ofSeconds(1));
        refused(LockConfigurationException.class, () -> fair.sticky(Duration.ofSeconds(1)));
        refused(LockConfigurationException.class, sticky::fair);
    }

    @Test
    void aTtlBelowTheEnginesMinimumIsRefused() {
        assertThatThrownBy(() -> open(builder -> builder.ttl(Duration.ofNanos(1))))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("ttl");
    }

    @Test
    void aClientNeedsAnEngineAndOneOnly() {
        assertThatThrownBy(() -> LockClient.builder().connect()).isInstanceOf(LockConfigurationException.class);
        assertThatThrownBy(() -> LockClient.builder()
                        .url("memory:")
                        .backend(context -> {
                            throw new AssertionError("must not be opened");
                        })
                        .connect())
                .isInstanceOf(LockConfigurationException.class);
    }

    @Test
    void aMalformedUrlIsRefusedWithoutRepeatingItsPassword() {
        List<String> urls = Stream.concat(
                        Stream.of(
                                "",
                                " ",
                                ":",
                                "://",
                                "nonsense",
                                "nosuchengine://localhost",
                                "nosuchengine://user:s3cret@localhost:1",
                                "//user:s3cret@localhost",
                                "user:s3cret@localhost",
                                "://user:s3cret@",
                                "no such engine://user:s3cret@localhost",
                                "nosuchengine:s3cret\n"),
                        fixture().malformedUrls().stream())
                .toList();
        for (String url : urls) {
            assertThatThrownBy(() -> LockClient.connect(url).close())
                    .as("URL '%s'", url)
                    .isInstanceOf(LockConfigurationException.class)
                    .satisfies(thrown -> {
                        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
                            assertThat(cause.toString()).as("URL '%s'", url).doesNotContain("s3cret");
                        }
                    });
        }
    }

    @Test
    void anEngineThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> LockClient.connect("nosuchengine://localhost"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("nosuchengine");
    }

    @Test
    void aListenerThatThrowsHarmsNoCall() throws Exception {
        RecordingListener healthy = new RecordingListener();
        LockClient client = open(builder ->
                builder.clientName("annoyed").listener(new ThrowingListener()).listener(healthy));
        for (int i = 0; i < 3; i++) {
            try (Lease lease = client.lock(NAME, LockOptions.defaults().maxHold(Bench.PATIENCE))
                    .acquire()) {
                assertThat(lease.isValid()).isTrue();
            }
        }
        Lease lost = client.lock(NAME, LockOptions.defaults().maxHold(Duration.ofMillis(100)))
                .acquireAsync()
                .get();
        lost.onLost(reason -> {
            throw new IllegalStateException("by a loss action");
        });
        Bench.await(
                "the other listener hears all",
                () -> healthy.acquired().size() == 4
                        && healthy.released().size() == 3
                        && healthy.lost().size() == 1);
        bench().awaitFree(NAME);
        assertThat(client.lock(NAME).tryAcquireAsync(Duration.ofSeconds(5)).get(20, TimeUnit.SECONDS))
                .isPresent()
                .get()
                .satisfies(Lease::close);
        assertThatThrownBy(lost::close).isInstanceOf(IllegalMonitorStateException.class);
    }

    private static final class ThrowingListener implements LockListener {
        @Override
        public void onAcquired(Acquired event) {
            throw new IllegalStateException("by a listener");
        }

        @Override
        public void onReleased(Released event) {
            throw new AssertionError("by a listener");
        }

        @Override
        public void onLost(Lost event) {
            throw new IllegalStateException("by a listener");
        }
    }

    @Test
    void aClientKnowsItsName() {
        assertThat(open(builder -> builder.clientName("Lönneberga")).name()).isEqualTo("Lönneberga");
        assertThat(open(UnaryOperator.identity()).name()).isNotEmpty();
    }

    private static void refused(Class<? extends Throwable> type, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(type);
    }
}
