package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that draws a port can listen on it while others draw theirs. */
class FreePortsTest {
    private static final int THREADS = 8;

    /** Per thread: enough that threads meet at the same port. */
    private static final int PORTS = 5_000;

    @Test
    @Timeout(120)
    void aPortThatWasDrawnIsFree() {
        List<CompletableFuture<Void>> drawing = IntStream.range(0, THREADS)
                .mapToObj(thread ->
                        CompletableFuture.runAsync(FreePortsTest::drawAndListen, task -> new Thread(task).start()))
                .toList();
        assertThatCode(() -> drawing.forEach(CompletableFuture::join)).doesNotThrowAnyException();
    }

    @Test
    @Timeout(120)
    void aPortThatWasDrawnIsFreeWhileProcessesAreStarted() throws Exception {
        try (StartedProcesses processes = new StartedProcesses()) {
            while (processes.count() < StartedProcesses.MANY) {
                drawAndListen(1);
            }
        }
    }

    private static void drawAndListen() {
        drawAndListen(PORTS);
    }

    private static void drawAndListen(int ports) {
        for (int i = 0; i < ports; i++) {
            int port = FreePorts.next();
            try (ServerSocket socket = new ServerSocket()) {
                socket.setReuseAddress(true);
                socket.bind(FreePorts.address(port));
            } catch (Exception e) {
                throw new AssertionError("port " + port, e);
            }
            FreePorts.giveBack(port);
        }
    }
}
