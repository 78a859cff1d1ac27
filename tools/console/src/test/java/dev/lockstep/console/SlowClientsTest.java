package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that occupy threads of the console, because they send or read slowly. */
@Timeout(120)
class SlowClientsTest {
    private static final Duration SOON = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static ConsoleServer serve(Console console, Duration patience) throws IOException {
        return new ConsoleServer(
                console, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), null, List.of(), patience);
    }

    private static Socket connect(ConsoleServer server, String request) throws IOException {
        URI uri = server.uri();
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4_096);
        socket.setSoTimeout((int) PATIENCE.toMillis());
        socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()));
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static int get(ConsoleServer server, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(server.uri().resolve(path))
                .timeout(PATIENCE)
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    @Test
    void halfRequestsEndAndDoNotKeepOthersOut() throws Exception {
        try (LockClient locks = LockClient.connect("memory:");
                Console console = Console.builder(locks).mount();
                ConsoleServer server = serve(console, SOON)) {
            List<Socket> slow = new ArrayList<>();
            try {
                for (int i = 0; i < ConsoleServer.MOST_THREADS + 30; i++) {
                    slow.add(connect(server, "GET /app.css HTT"));
                }
                assertThat(get(server, "app.css")).isEqualTo(200);
                for (Socket socket : slow) {
                    assertThat(socket.getInputStream().read()).isEqualTo(-1);
                }
            } finally {
                for (Socket socket : slow) {
                    socket.close();
                }
            }
        }
    }

    @Test
    void aStreamLastsLongerThanThePatience() throws Exception {
        try (LockClient locks = LockClient.connect("memory:");
                Console console = Console.builder(locks).mount();
                ConsoleServer server = serve(console, SOON);
                Socket socket = connect(server, "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
            InputStream in = socket.getInputStream();
            StringBuilder read = new StringBuilder();
            while (read.toString().split("data: ", -1).length <= 4) { // a second lies between two of them
                int next = in.read();
                assertThat(next).as(read.toString()).isNotEqualTo(-1);
                read.append((char) next);
            }
            assertThat(server.streams()).isEqualTo(1);
        }
    }
}
