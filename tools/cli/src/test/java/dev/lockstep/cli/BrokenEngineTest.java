package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demos on an engine that does not exclude: they must say so, and fail. */
@Timeout(120)
class BrokenEngineTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Main.run(new PrintWriter(out), new PrintWriter(err), args);
    }

    @Test
    void flashSaleThatIsNotExactFails() {
        int code = run("demo", "--url", "broken:", "--threads", "2", "--stock", "20", "--buyers", "30");
        assertThat(out.toString()).contains("With a lock").contains("NOT EXACT. Please report this, with the seed");
        assertThat(code).isEqualTo(ExitCodes.FAILED);
    }

    @Test
    void orderNumbersThatAreNotInOrderFail() {
        int code = run("demo", "order-numbers", "--url", "broken:", "--threads", "2", "--numbers", "30", "--json");
        assertThat(out.toString()).contains("\"exact\":false");
        assertThat(code).isEqualTo(ExitCodes.FAILED);
    }
}
