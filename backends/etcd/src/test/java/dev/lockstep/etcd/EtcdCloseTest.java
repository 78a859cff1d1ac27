package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Leftovers of a client in its JVM: a web application may be unloaded right after its client was closed. */
class EtcdCloseTest extends SingleMemberTestCase {

    @Test
    void noThreadIsLeftWhenCloseReturns() {
        for (String host : List.of("127.0.0.1", "localhost")) {
            LockClient client = connect("etcd://" + host + ":" + server.port());
            client.lock(NAME).lock();
            client.close();
            assertThat(threads()).isEmpty();
        }
    }

    @Test
    void noThreadIsLeftAfterAFailedConnect() {
        assertThatThrownBy(() -> closedAfterwards(builder()
                        .url("etcd://127.0.0.1:1")
                        .requestTimeout(Duration.ofSeconds(5)) // also limits how long close waits for threads
                        .connect()))
                .isInstanceOf(LockUnavailableException.class);
        assertThat(threads()).isEmpty();
    }

    /** The threads of this engine, gRPC and Netty: no other client is open here. */
    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.matches("(lockstep-etcd|grpc|netty|globalEventExecutor).*"))
                .toList();
    }

    @Test
    void aConnectionLogsNothingAtInfo() {
        ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord line) {
                lines.add(line.getLoggerName() + ": " + line.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger metrics = Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.TcpMetrics");
        Logger grpc = Logger.getLogger("io.grpc");
        grpc.addHandler(handler);
        try {
            connect().close();
            metrics.info("what gRPC logs once in a JVM, as its first connection did before this test");
        } finally {
            grpc.removeHandler(handler);
        }
        assertThat(lines).isEmpty();
    }
}
