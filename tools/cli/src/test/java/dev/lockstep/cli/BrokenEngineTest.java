package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demos on an engine that does not exclude: they must say so, and fail. */
@Timeout(120)
class BrokenEngineTest {
    /** Two holders at once: either both write, or the storage refuses the one with the older token each time. */
    private static final String STALE_TOKENS = "the demo fails again and again: .* stale token";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Main.run(new PrintWriter(out), new PrintWriter(err), args);
    }

    @Test
    void flashSaleThatIsNotExactFails() {
        int code = run("demo", "--url", "broken:", "--threads", "2", "--stock", "200", "--buyers", "300");
        assertThat(out.toString() + err)
                .containsPattern("NOT EXACT. Please report this, with the seed|" + STALE_TOKENS);
        assertThat(code).isEqualTo(ExitCodes.FAILED);
    }

    @Test
    void orderNumbersThatAreNotInOrderFail() {
        int code = run("demo", "order-numbers", "--url", "broken:", "--threads", "2", "--numbers", "300", "--json");
        assertThat(out.toString() + err).containsPattern("\"exact\":false|" + STALE_TOKENS);
        assertThat(code).isEqualTo(ExitCodes.FAILED);
    }
}
