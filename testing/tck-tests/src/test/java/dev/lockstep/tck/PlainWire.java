package dev.lockstep.tck;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One client's connection to a {@link PlainServer}, opened when needed; with faults that a test switches on and off. */
final class PlainWire implements AutoCloseable {
    private final int port;
    private volatile boolean broken;
    private volatile boolean repliesLost;
    private volatile Duration delay = Duration.ZERO;
    private volatile Duration timeout = Duration.ofSeconds(5);
    private @Nullable Connection connection; // guarded by this

    private record Connection(Socket socket, BufferedReader answers, Writer requests) {}

    PlainWire(int port) {
        this.port = port;
    }

    void timeout(Duration newTimeout) {
        timeout = newTimeout;
    }

    void cut() {
        broken = true;
    }

    void loseReplies() {
        repliesLost = true;
    }

    void slowDown(Duration newDelay) {
        delay = newDelay;
    }

    void heal() {
        broken = false;
        repliesLost = false;
        delay = Duration.ZERO;
    }

    /** Sends a request and waits for the answer. */
    synchronized String[] call(String... request) throws IOException {
        try {
            if (broken) {
                throw new IOException("cut");
            }
            Connection open = connect();
            open.requests.write(PlainServer.encode(request) + "\n");
            open.requests.flush();
            String answer = open.answers.readLine();
            if (answer == null || repliesLost) {
                throw new IOException("no answer");
            }
            if (!delay.isZero()) {
                boolean tooLate = delay.compareTo(timeout) > 0;
                Bench.letPass(tooLate ? timeout : delay);
                if (tooLate) {
                    throw new SocketTimeoutException();
                }
            }
            return PlainServer.decode(answer);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private Connection connect() throws IOException {
        Connection known = connection;
        if (known == null) {
            int millis = (int) timeout.toMillis();
            Socket socket = new Socket();
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
            socket.setSoTimeout(millis);
            socket.setTcpNoDelay(true);
            known = new Connection(
                    socket,
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)),
                    new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8));
            connection = known;
        }
        return known;
    }

    @Override
    public synchronized void close() throws IOException {
        Connection known = connection;
        if (known != null) {
            connection = null;
            known.socket.close();
        }
    }
}
