package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code lockstep console} refuses. */
@Timeout(60)
class ConsoleCommandTest {
    private static String refused(String... arguments) {
        StringWriter err = new StringWriter();
        int code = Main.run(new PrintWriter(new StringWriter()), new PrintWriter(err), arguments);
        assertThat(code).isEqualTo(ExitCodes.USAGE);
        return err.toString();
    }

    @Test
    void otherAddressesNeedAToken() {
        assertThat(refused("console", "--url", "memory:", "--address", "0.0.0.0", "--port", "0"))
                .contains("needs a token to listen on 0.0.0.0");
    }

    @Test
    void theEngineIsAskedOnceASecondAtMost() {
        assertThat(refused("console", "--url", "memory:", "--interval", "0.5")).contains("from a second to an hour");
    }

    @Test
    void anEngineIsNeeded() {
        assertThat(refused("console", "--url", "nothing:")).isNotEmpty();
    }
}
