package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.HolderInfo;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class HolderLinesTest {
    private static final Instant SINCE = Instant.parse("2026-11-18T02:00:00.123Z");

    @Test
    void whatIsWrittenIsReadAgain() {
        HolderInfo holder = new HolderInfo("orders", "host-1", 42, "main", SINCE, true);
        String text = HolderLines.write(holder);
        assertThat(text)
                .isEqualTo("client=orders\nhost=host-1\npid=42\nthread=main\nsince=2026-11-18T02:00:00.123Z\n"
                        + "sticky=true\n");
        assertThat(read(text)).isEqualTo(holder);
    }

    @Test
    void aNameCannotForgeAnotherLine() {
        HolderInfo holder = new HolderInfo("orders", "h", 1, "a\nclient=forged\u2028b\u007Fc", SINCE, false);
        assertThat(HolderLines.write(holder)).contains("\nthread=a client=forged b c\n");
        assertThat(read(HolderLines.write(holder)).client()).isEqualTo("orders");
    }

    @Test
    void whatIsMissingOrSpoiltIsUnknown() {
        assertThat(read("no fact\npid=many\nsince=then\n"))
                .isEqualTo(new HolderInfo("?", "?", 0, "?", Instant.EPOCH, false));
    }

    private static HolderInfo read(String text) {
        return HolderLines.holder(HolderLines.read(text), "?", Instant.EPOCH);
    }
}
