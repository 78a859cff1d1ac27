package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.HolderInfo;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class HolderTextTest {
    private static final Instant SINCE = Instant.parse("2026-11-18T02:00:00.123Z");

    @Test
    void writtenTextIsReadAgain() {
        HolderInfo holder = HolderInfo.of("orders", "host-1", 42)
                .withThread("main")
                .withSince(SINCE)
                .withSticky(true);
        String text = HolderText.write(holder);
        assertThat(text)
                .isEqualTo("client=orders\nhost=host-1\npid=42\nthread=main\nsince=2026-11-18T02:00:00.123Z\n"
                        + "sticky=true\n");
        assertThat(read(text)).isEqualTo(holder);
    }

    @Test
    void aNameCannotForgeAnotherLine() {
        HolderInfo holder = HolderInfo.of("orders", "h", 1)
                .withThread("a\nclient=forged\u2028b\u007Fc")
                .withSince(SINCE);
        assertThat(HolderText.write(holder)).contains("\nthread=a client=forged b c\n");
        assertThat(read(HolderText.write(holder)).client()).isEqualTo("orders");
    }

    @Test
    void missingOrDamagedValuesAreUnknown() {
        assertThat(read("no fact\npid=many\nsince=then\n"))
                .isEqualTo(HolderInfo.of("?", "?", 0).withThread("?"));
    }

    private static HolderInfo read(String text) {
        return HolderText.holder(HolderText.read(text), "?", Instant.EPOCH);
    }
}
