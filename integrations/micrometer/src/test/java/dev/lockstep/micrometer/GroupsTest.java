package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** The tag {@code group} has few values, whatever the names are. */
class GroupsTest {
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final Meters meters = new Meters(registry);

    private void use(LockMetrics metrics, int times, IntFunction<String> name) {
        try (LockClient client =
                LockClient.builder().url("memory:").observer(metrics).connect()) {
            for (int i = 0; i < times; i++) {
                client.lock(name.apply(i)).lock();
                client.lock(name.apply(i)).unlock();
            }
        }
    }

    @Test
    void groupIsWhatComesBeforeTheFirstColon() {
        use(new LockMetrics(registry), 1, i -> "order:42:item");
        use(new LockMetrics(registry), 1, i -> "report");
        use(new LockMetrics(registry), 1, i -> ":odd");
        assertThat(meters.values("group")).containsExactly("order", "other", "report");
    }

    @Test
    void userChoosesTheGroup() {
        LockMetrics metrics = new LockMetrics(registry).client("shop").groups(name -> switch (name.charAt(0)) {
            case 'x' -> "mine";
            case 'y' -> null;
            default -> throw new IllegalStateException("a bug of the user's");
        });
        use(metrics, 3, i -> "xyz".charAt(i) + "1:2");
        assertThat(meters.values("group")).containsExactly("mine", "other", "y1");
        assertThat(meters.values("client")).containsExactly("shop");
    }

    @Test
    void optionsOverrideOtherSettings() {
        try (LockClient client = LockClient.builder()
                .url("memory:")
                .observer(new LockMetrics(registry).groups(name -> "rule"))
                .connect()) {
            client.lock("shop:order:1", LockOptions.defaults().group("shop:order"))
                    .lock();
        }
        assertThat(meters.values("group")).containsExactly("shop:order");
    }

    @Test
    void aMillionNamesAreAHundredGroupsAndOneWarning() {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        LockMetrics metrics = new LockMetrics(registry);
        try {
            System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
            use(metrics, 10_000, i -> "name-" + i);
            long used = usedMemory();
            use(metrics, 990_000, i -> "name-" + (10_000 + i));
            // The names alone would be 50 MB. The memory of a JVM varies a little, whatever runs in it.
            assertThat(usedMemory() - used).as("bytes more").isLessThan(20_000_000);
        } finally {
            System.setErr(before);
        }
        assertThat(meters.values("group"))
                .hasSize(Groups.LIMIT + 1)
                .contains(Groups.OTHER, "name-0", "name-99")
                .doesNotContain("name-100");
        assertThat(meters.count(LockMeters.HOLD, "group", Groups.OTHER)).isEqualTo(1_000_000 - Groups.LIMIT);
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .filteredOn(line -> line.contains("more than 100 groups"))
                .hasSize(1);
    }

    private static long usedMemory() {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
