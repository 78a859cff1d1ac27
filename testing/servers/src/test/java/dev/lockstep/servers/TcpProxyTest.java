package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.servers.TcpProxy.Direction;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TcpProxyTest {
    private final List<Socket> clients = new ArrayList<>();
    private EchoServer server;
    private TcpProxy proxy;

    /** Answers every byte with itself, and counts them. */
    private static final class EchoServer implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket();
        private final AtomicInteger received = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();

        EchoServer() throws IOException {
            socket.bind(FreePorts.address(FreePorts.next()), 1_000);
            start(this::accept);
        }

        private void accept() {
            try {
                while (true) {
                    Socket connection = socket.accept();
                    start(() -> echo(connection));
                }
            } catch (IOException e) {
                // closed
            }
        }

        private void echo(Socket connection) {
            byte[] buffer = new byte[8_192];
            try (connection) {
                for (int n = read(connection, buffer); n >= 0; n = read(connection, buffer)) {
                    received.addAndGet(n);
                    connection.getOutputStream().write(buffer, 0, n);
                }
            } catch (IOException e) {
                // a reset is an end too
            }
            ended.incrementAndGet();
        }

        private static int read(Socket connection, byte[] buffer) throws IOException {
            return connection.getInputStream().read(buffer);
        }

        private static void start(Runnable work) {
            Thread thread = new Thread(work, "echo");
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = new EchoServer();
        proxy = TcpProxy.to(server.socket.getLocalPort());
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        proxy.close();
        server.close();
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().startsWith("lockstep-proxy-"));
    }

    @Test
    void passesBytesBothWaysAndCountsThem() throws IOException {
        Socket client = connect();
        assertThat(exchange(client, "hello")).isEqualTo("hello");
        assertThat(proxy.acceptedConnections()).isEqualTo(1);
        assertThat(proxy.openConnections()).isEqualTo(1);
        assertThat(proxy.bytes(Direction.REQUESTS)).isEqualTo(5);
        assertThat(proxy.bytes(Direction.REPLIES)).isEqualTo(5);
        client.close();
        await().atMost(Duration.ofSeconds(20)).until(() -> proxy.openConnections() == 0 && server.ended.get() == 1);
    }

    @Test
    void halfClosedConnectionStillDeliversItsReplies() throws IOException {
        Socket client = connect();
        client.getOutputStream().write("bye".getBytes(StandardCharsets.UTF_8));
        client.shutdownOutput();
        assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo("bye");
    }

    @Test
    void listensAgainWhileProcessesAreStarted() throws Exception {
        try (StartedProcesses processes = new StartedProcesses()) {
            while (processes.count() < StartedProcesses.MANY) {
                proxy.cut();
                proxy.heal();
            }
        }
        assertThat(exchange(connect(), "hello")).isEqualTo("hello");
    }

    @Test
    void largeStreamsArriveWhole() throws Exception {
        proxy.delay(Duration.ofMillis(2));
        byte[] data = new byte[20_000_000];
        new Random(1).nextBytes(data);
        Socket client = connect();
        client.setSoTimeout(20_000);
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            try {
                client.getOutputStream().write(data);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(client.getInputStream().readNBytes(data.length)).isEqualTo(data);
        writer.join();
    }

    @Test
    void servesHundredsOfConnectionsAtOnce() throws IOException {
        for (int i = 0; i < 500; i++) {
            write(connect(), "connection " + (1_000 + i));
        }
        for (int i = 0; i < 500; i++) {
            assertThat(read(clients.get(i), 15)).isEqualTo("connection " + (1_000 + i));
        }
        assertThat(proxy.openConnections()).isEqualTo(500);
    }

    @Test
    void delaysEachWay() throws IOException {
        proxy.delay(Duration.ofMillis(20));
        Socket client = connect();
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long start = System.nanoTime();
            exchange(client, "ping");
            shortest = Math.min(shortest, System.nanoTime() - start);
        }
        // The shortest of five: a busy machine does not delay all of them for so long.
        assertThat(Duration.ofNanos(shortest)).isBetween(Duration.ofMillis(40), Duration.ofSeconds(2));
        proxy.delay(Direction.REPLIES, Duration.ZERO);
        long start = System.nanoTime();
        exchange(client, "ping");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(20));
    }

    @Test
    void delayedBytesTravelTogether() throws IOException, InterruptedException {
        proxy.delay(Duration.ofMillis(100));
        Socket client = connect();
        long start = System.nanoTime();
        StringBuilder sent = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            write(client, "m" + (10 + i));
            sent.append('m').append(10 + i);
            Thread.sleep(1);
        }
        assertThat(read(client, sent.length())).isEqualTo(sent.toString());
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(200), Duration.ofSeconds(5)); // one after the other: 10 s
    }

    @Test
    void cutResetsConnectionsAndRefusesNewOnesUntilHealed() throws IOException {
        Socket client = connect();
        exchange(client, "hello");
        proxy.cut();
        assertThatThrownBy(() -> read(client, 1)).isInstanceOf(SocketException.class);
        assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
        await().atMost(Duration.ofSeconds(20)).until(() -> server.ended.get() == 1);
        proxy.heal();
        assertThat(exchange(connect(), "again")).isEqualTo("again");
    }

    @Test
    void resetConnectionsMayConnectAgainAtOnce() throws IOException {
        Socket client = connect();
        exchange(client, "hello");
        proxy.resetConnections();
        assertThatThrownBy(() -> read(client, 1)).isInstanceOf(SocketException.class);
        assertThat(exchange(connect(), "again")).isEqualTo("again");
    }

    @Test
    void blackHoleSwallowsBothWaysWithoutAnError() throws IOException {
        Socket talking = connect();
        Socket idle = connect();
        exchange(talking, "hello");
        exchange(idle, "hello");
        proxy.blackHole();
        Socket late = connect();
        write(talking, "lost");
        write(late, "lost");
        assertSilent(talking);
        assertSilent(late);
        assertThat(server.received).hasValue(10);
        talking.close();
        assertThat(server.ended).hasValue(0);

        proxy.heal();
        assertThat(exchange(idle, "goes on")).isEqualTo("goes on");
        assertThatThrownBy(() -> read(late, 1)).isInstanceOf(SocketException.class);
        await().atMost(Duration.ofSeconds(20)).until(() -> server.ended.get() == 1);
    }

    @Test
    void dropRepliesLetsRequestsThrough() throws IOException {
        Socket client = connect();
        proxy.dropReplies();
        write(client, "apply");
        await().atMost(Duration.ofSeconds(20)).until(() -> server.received.get() == 5);
        assertSilent(client);
        proxy.heal();
        assertThatThrownBy(() -> read(client, 1)).isInstanceOf(SocketException.class);
    }

    @Test
    void dropNextReplyLosesOneReplyAndResetsItsConnectionOnly() throws IOException {
        Socket client = connect();
        Socket other = connect();
        exchange(client, "hello");
        exchange(other, "hello");
        CompletableFuture<Void> dropped = proxy.dropNextReply();
        assertThat(dropped).isNotDone();
        write(client, "apply");
        assertThatThrownBy(() -> read(client, 1)).isInstanceOf(SocketException.class);
        dropped.join();
        assertThat(server.received).hasValue(15);
        assertThat(exchange(other, "fine")).isEqualTo("fine");
    }

    @Test
    void dropReplyToChoosesByTheRequestsText() throws IOException {
        Socket client = connect();
        Socket other = connect();
        CompletableFuture<Void> dropped = proxy.dropReplyTo("EVAL order:42", Duration.ofSeconds(2));
        assertThat(exchange(client, "PING")).isEqualTo("PING");
        assertThat(exchange(other, "EVAL order:43")).isEqualTo("EVAL order:43");
        write(client, "..EVAL order:42..");
        dropped.join();
        assertSilent(client);
        assertThatThrownBy(() -> read(client, 1)).isInstanceOf(SocketException.class);
        assertThat(exchange(other, "fine")).isEqualTo("fine");
    }

    @Test
    void stalledBytesArriveWhenHealed() throws IOException {
        Socket client = connect();
        exchange(client, "hello");
        proxy.stall(Direction.REPLIES);
        write(client, "late");
        assertSilent(client);
        await().atMost(Duration.ofSeconds(20)).until(() -> server.received.get() == 9);
        proxy.heal();
        assertThat(read(client, 4)).isEqualTo("late");
    }

    @Test
    void connectionThatTheServerHasEndedIsNotServedAnyMore() throws IOException {
        try (ServerSocket listening = new ServerSocket()) {
            listening.bind(FreePorts.address(FreePorts.next()));
            try (TcpProxy through = TcpProxy.to(listening.getLocalPort())) {
                connect(through);
                try (Socket accepted = listening.accept()) {
                    assertThat(through.servedConnections()).isEqualTo(1);
                    accepted.shutdownOutput();
                    await().atMost(Duration.ofSeconds(20)).until(() -> through.servedConnections() == 0);
                    assertThat(through.openConnections()).isEqualTo(1);
                }
            }
        }
    }

    @Test
    void serverThatIsDownResetsTheClient() throws IOException {
        // A port that is taken and not listened on: a server that is just being closed may still accept one.
        try (Socket nobody = new Socket()) {
            nobody.bind(FreePorts.address(FreePorts.next()));
            try (TcpProxy toNobody = TcpProxy.to(nobody.getLocalPort())) {
                assertThatThrownBy(() -> read(connect(toNobody), 1)).isInstanceOf(SocketException.class);
                await().atMost(Duration.ofSeconds(20)).until(() -> toNobody.openConnections() == 0);
            }
        }
    }

    @Test
    void closedProxyRefusesOrders() {
        proxy.close();
        assertThatThrownBy(proxy::heal).isInstanceOf(IllegalStateException.class);
    }

    private Socket connect() throws IOException {
        return connect(proxy);
    }

    private Socket connect(TcpProxy through) throws IOException {
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(5_000);
        socket.connect(FreePorts.address(through.port()), 5_000);
        clients.add(socket);
        return socket;
    }

    private static String exchange(Socket socket, String text) throws IOException {
        write(socket, text);
        return read(socket, text.length());
    }

    private static void write(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static String read(Socket socket, int bytes) throws IOException {
        byte[] read = new byte[bytes];
        new DataInputStream(socket.getInputStream()).readFully(read);
        return new String(read, StandardCharsets.UTF_8);
    }

    private static void assertSilent(Socket socket) throws IOException {
        socket.setSoTimeout(100);
        assertThatThrownBy(() -> read(socket, 1)).isInstanceOf(SocketTimeoutException.class);
        socket.setSoTimeout(5_000);
    }
}
