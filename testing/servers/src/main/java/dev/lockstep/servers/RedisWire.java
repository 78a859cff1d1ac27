package dev.lockstep.servers;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** The few lines of the Redis protocol that setting up servers takes. Not thread-safe. */
final class RedisWire implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 5_000;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    RedisWire(int port, @Nullable SSLContext tls) throws IOException {
        Socket plain = new Socket();
        try {
            plain.setSoTimeout(TIMEOUT_MILLIS);
            plain.connect(FreePorts.address(port), TIMEOUT_MILLIS);
            socket = tls == null ? plain : tls.getSocketFactory().createSocket(plain, ServerProcess.HOST, port, true);
            in = new BufferedInputStream(socket.getInputStream());
            out = socket.getOutputStream();
        } catch (IOException e) {
            plain.close();
            throw e;
        }
    }

    /** Sends a command and returns its reply as text: an array's elements on lines of their own, nothing for nil. */
    String command(String... words) throws IOException {
        StringBuilder request = new StringBuilder("*").append(words.length).append("\r\n");
        for (String word : words) {
            int bytes = word.getBytes(StandardCharsets.UTF_8).length;
            request.append('$').append(bytes).append("\r\n").append(word).append("\r\n");
        }
        out.write(request.toString().getBytes(StandardCharsets.UTF_8));
        out.flush();
        return reply();
    }

    private String reply() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+', ':' -> rest;
            case '-' -> throw new IOException("Redis says: " + rest);
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> array(Integer.parseInt(rest));
            default -> throw new IOException("not a Redis reply: " + line);
        };
    }

    private String array(int length) throws IOException {
        List<String> elements = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            elements.add(reply());
        }
        return String.join("\n", elements);
    }

    private String bulk(int length) throws IOException {
        if (length < 0) {
            return "";
        }
        byte[] bytes = in.readNBytes(length);
        line();
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("Redis closed the connection");
            }
            line.append((char) b);
        }
        if (line.length() < 1 || line.charAt(line.length() - 1) != '\r') {
            throw new IOException("not a Redis reply: " + line);
        }
        return line.substring(0, line.length() - 1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
