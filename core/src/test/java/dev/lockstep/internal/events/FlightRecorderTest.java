package dev.lockstep.internal.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Recording;
import jdk.jfr.SettingDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Locks in flight recordings. */
class FlightRecorderTest {
    @TempDir
    private Path folder = Path.of("");

    /** An engine that reports a quick and a slow request when it is asked to open. */
    private static final class Slow implements BackendFactory {
        private final MemoryEngine engine = new MemoryEngine();

        @Override
        public LockBackend open(BackendContext context) {
            long now = context.scheduler().nanoTime();
            long later = now + TimeUnit.MINUTES.toNanos(1); // short, however long this thread is delayed
            context.requests().ended("quick", later, null);
            context.requests().ended("slow", now - TimeUnit.MILLISECONDS.toNanos(50), null);
            context.requests().ended("lost", now - TimeUnit.SECONDS.toNanos(1), new IOException("connection reset"));
            return engine.open(context);
        }

        @Override
        public String address() {
            return "host:1";
        }
    }

    private List<RecordedEvent> events(Recording recording, String name) throws IOException {
        Path file = folder.resolve("locks.jfr");
        recording.stop();
        recording.dump(file);
        List<RecordedEvent> all = RecordingFile.readAllEvents(file);
        Files.delete(file);
        return all.stream()
                .filter(event -> event.getEventType().getName().equals("dev.lockstep." + name))
                .toList();
    }

    @Test
    void waitsAreRecordedWithTheStackOfTheirCall() throws Exception {
        try (Recording recording = new Recording();
                LockClient client =
                        LockClient.builder().url("memory:").clientName("me").connect()) {
            recording.enable("dev.lockstep.Wait").withStackTrace().withoutThreshold();
            client.lock("before").acquire().close();
            recording.start();
            Lease first = client.lock("order:1").acquireAsync().get();
            CompletableFuture<Void> second = CompletableFuture.runAsync(() -> {
                client.lock("order:1").lock();
                client.lock("order:1").unlock();
            });
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> !client.snapshot().waiters().isEmpty());
            first.close();
            second.get(20, TimeUnit.SECONDS);
            List<RecordedEvent> waits = events(recording, "Wait");
            assertThat(waits).singleElement().satisfies(wait -> {
                assertThat(wait.getString("client")).isEqualTo("me");
                assertThat(wait.getString("lock")).isEqualTo("order:1");
                assertThat(wait.getString("outcome")).isEqualTo("ACQUIRED");
                assertThat(wait.getDuration()).isPositive();
                assertThat(wait.getStackTrace().getFrames())
                        .anyMatch(frame -> frame.getMethod().getName().equals("lock"));
            });
        }
    }

    @Test
    void holdsAreRecordedWithTheStackOfTheirEnd() throws Exception {
        try (Recording recording = new Recording();
                LockClient client = LockClient.connect("memory:")) {
            recording.enable("dev.lockstep.Hold").withoutThreshold();
            recording.start();
            client.lock("order:3").lock();
            client.lock("order:3").unlock();
            assertThat(events(recording, "Hold")).singleElement().satisfies(hold -> {
                assertThat(hold.getString("outcome")).isEqualTo("RELEASED");
                assertThat(hold.getStackTrace().getFrames())
                        .anyMatch(frame -> frame.getMethod().getName().equals("unlock"));
            });
        }
    }

    @Test
    void defaultsAreThoseOfThePage() {
        assertThat(defaultOf(FlightRecorder.Wait.class, "threshold")).isEqualTo("20 ms");
        assertThat(defaultOf(FlightRecorder.Hold.class, "threshold")).isEqualTo("20 ms");
        assertThat(defaultOf(FlightRecorder.Loss.class, "threshold")).isEqualTo("0 ns");
        assertThat(defaultOf(FlightRecorder.EngineRequest.class, "minimum")).isEqualTo("20 ms");
        for (Class<? extends Event> event : List.of(
                FlightRecorder.Wait.class,
                FlightRecorder.Hold.class,
                FlightRecorder.Loss.class,
                FlightRecorder.EngineRequest.class)) {
            assertThat(defaultOf(event, "enabled")).as(event.getSimpleName()).isEqualTo("true");
            assertThat(defaultOf(event, "stackTrace")).as(event.getSimpleName()).isEqualTo("true");
        }
    }

    private static String defaultOf(Class<? extends Event> event, String setting) {
        return EventType.getEventType(event).getSettingDescriptors().stream()
                .filter(each -> each.getName().equals(setting))
                .map(SettingDescriptor::getDefaultValue)
                .findFirst()
                .orElse("no such setting");
    }

    @Test
    void holdsAndLossesAreRecordedWithTheirEnd() throws Exception {
        try (Recording recording = new Recording();
                LockClient client = LockClient.connect("memory:")) {
            // A pause of the machine must neither make the short hold long nor end the other before its token is read.
            recording.enable("dev.lockstep.Hold").withThreshold(Duration.ofSeconds(1));
            recording.enable("dev.lockstep.Loss");
            recording.start();
            client.lock("short").acquire().close();
            Lease lost = client.lock("order:2", LockOptions.defaults().maxHold(Duration.ofMillis(1500)))
                    .acquire();
            long token = lost.token();
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !lost.isValid());
            assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
            recording.stop();
            Path file = folder.resolve("locks.jfr");
            recording.dump(file);
            List<RecordedEvent> all = RecordingFile.readAllEvents(file);
            assertThat(all)
                    .extracting(
                            event -> event.getEventType().getName(),
                            event -> event.getString("lock"),
                            event -> event.getLong("token"))
                    .containsExactlyInAnyOrder(
                            tuple("dev.lockstep.Hold", "order:2", token), tuple("dev.lockstep.Loss", "order:2", token));
            assertThat(all)
                    .filteredOn(event -> event.getEventType().getName().equals("dev.lockstep.Loss"))
                    .extracting(event -> event.getString("reason"))
                    .containsExactly("MAX_HOLD_REACHED");
        }
    }

    /** As with a leader's lock, of a process that has run for a long time when a recording starts. */
    @Test
    void aLossIsRecordedOfAHoldThatIsOlderThanTheRecording() throws Exception {
        try (Recording recording = new Recording();
                LockClient client =
                        LockClient.builder().url("memory:").clientName("me").connect()) {
            Lease lock = client.lock("order:4").acquire();
            Permit permit = client.semaphore("slots", 1).acquire();
            recording.enable("dev.lockstep.Loss");
            recording.start();
            assertThat(client.forceRelease("order:4")).isTrue();
            assertThat(client.forceRelease("slots")).isTrue();
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !lock.isValid() && !permit.isValid());
            assertThat(events(recording, "Loss"))
                    .extracting(
                            loss -> loss.getString("client"),
                            loss -> loss.getString("lock"),
                            loss -> loss.getString("mode"),
                            loss -> loss.getString("reason"))
                    .containsExactlyInAnyOrder(
                            tuple("me", "order:4", "EXCLUSIVE", "REVOKED"), tuple("me", "slots", "SHARED", "REVOKED"));
        }
    }

    @Test
    void slowRequestsAreRecorded() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("dev.lockstep.EngineRequest");
            recording.start();
            LockClient.builder().backend(new Slow()).connect().close();
            List<RecordedEvent> requests = events(recording, "EngineRequest");
            assertThat(requests).extracting(event -> event.getString("kind")).containsExactlyInAnyOrder("slow", "lost");
            assertThat(requests).allMatch(event -> event.getString("engine").equals("host:1"));
            assertThat(requests).anyMatch(event -> event.getString("failure").contains("connection reset"));
        }
        try (Recording recording = new Recording()) {
            recording.enable("dev.lockstep.EngineRequest").with("minimum", "200 ms");
            recording.start();
            LockClient.builder().backend(new Slow()).connect().close();
            assertThat(events(recording, "EngineRequest"))
                    .extracting(event -> event.getString("kind"))
                    .containsExactly("lost");
        }
    }

    @Test
    void nobodyObservesWithoutARecording() {
        Observers observers = new Observers(List.of());
        observers.opening("me", "memory", "");
        assertThat(observers.isAny()).isFalse();
        try (Recording recording = new Recording()) {
            recording.enable("dev.lockstep.Hold");
            recording.start();
            assertThat(observers.isAny()).isTrue();
            recording.stop();
        }
        assertThat(observers.isAny()).isFalse();
    }
}
