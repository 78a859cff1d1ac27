package dev.lockstep.tck;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A server with the plainest lock there is: a key, an owner and an expiry, as in {@code SET name owner NX PX}. No queue,
 * no push, no shared mode. It serves the contract over TCP, so that a second process can use it.
 *
 * <p>A request is a line of words, each URL-encoded; so is the answer.
 */
final class PlainServer implements AutoCloseable {
    private record Key(String namespace, String name) {}

    private record Entry(String owner, long token, String info, long expiresNanos) {}

    private final Map<Key, Entry> entries = new HashMap<>(); // guarded by this, as are the next two
    private long lastToken;
    private long requests;
    private final Set<Closeable> connections = ConcurrentHashMap.newKeySet();
    private final ServerSocket listening = new ServerSocket();
    private volatile boolean down;

    PlainServer() throws IOException {
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        start("accepting", () -> {
            while (true) {
                Socket connection = listening.accept();
                connections.add(connection);
                if (down) {
                    cutAll();
                }
                start("serving", () -> serve(connection));
            }
        });
    }

    int port() {
        return listening.getLocalPort();
    }

    private static void start(String name, Call.Step step) {
        Thread thread = new Thread(
                () -> {
                    try {
                        step.run();
                    } catch (Exception e) {
                        // The socket was closed.
                    }
                },
                "plain-server-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Cuts all connections, lets none last for a moment, and serves again, with what it had stored. */
    void restart() throws IOException {
        down = true;
        cutAll();
        Bench.letPass(Duration.ofMillis(200));
        down = false;
    }

    private void cutAll() throws IOException {
        for (Closeable connection : connections) {
            connection.close();
        }
        connections.clear();
    }

    @Override
    public void close() throws IOException {
        listening.close();
        cutAll();
    }

    private void serve(Socket connection) throws IOException {
        try (connection;
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8));
                Writer answers = new OutputStreamWriter(connection.getOutputStream(), StandardCharsets.UTF_8)) {
            connection.setTcpNoDelay(true);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.write(encode(answer(decode(line))) + "\n");
                answers.flush();
            }
        } finally {
            connections.remove(connection);
        }
    }

    static String encode(String... words) {
        return Arrays.stream(words)
                .map(word -> URLEncoder.encode(word, StandardCharsets.UTF_8))
                .collect(Collectors.joining(" "));
    }

    static String[] decode(String line) {
        return Arrays.stream(line.split(" ", -1))
                .map(word -> URLDecoder.decode(word, StandardCharsets.UTF_8))
                .toArray(String[]::new);
    }

    synchronized long requests() {
        return requests;
    }

    /** Ends what the claims of a client hold, as if its ttl had passed. */
    synchronized void expire(String clientId) {
        entries.values().removeIf(entry -> entry.owner.startsWith(clientId));
    }

    private synchronized String[] answer(String[] request) {
        requests++;
        long now = System.nanoTime();
        Iterator<String> words = Arrays.asList(request).iterator();
        return switch (words.next()) {
            case "ping" -> new String[] {"ok"};
            case "take" -> take(key(words), words.next(), expiry(words, now), words.next());
            case "renew" -> renew(expiry(words, now), words);
            case "free" -> free(key(words), words.next());
            case "force" -> force(key(words), words);
            case "list" -> list(words.next(), words.next());
            default -> throw new UncheckedIOException(new IOException("unknown request"));
        };
    }

    private static Key key(Iterator<String> words) {
        return new Key(words.next(), words.next());
    }

    private static long expiry(Iterator<String> words, long now) {
        return now + Long.parseLong(words.next());
    }

    /** The unexpired value of a key. */
    private @Nullable Entry present(Key key) {
        Entry entry = entries.get(key);
        if (entry != null && System.nanoTime() - entry.expiresNanos >= 0) {
            entries.remove(key);
            return null;
        }
        return entry;
    }

    private String[] force(Key key, Iterator<String> token) {
        Entry present = present(key);
        boolean meant = present != null && (!token.hasNext() || present.token == Long.parseLong(token.next()));
        if (meant) {
            entries.remove(key);
        }
        return new String[] {Boolean.toString(meant)};
    }

    /** Gives a key to a claim if it is free; asking again, as after a lost answer, changes nothing but the expiry. */
    private String[] take(Key key, String owner, long expiresNanos, String info) {
        Entry present = present(key);
        if (present != null && !present.owner.equals(owner)) {
            return new String[] {"busy"};
        }
        long token = present != null ? present.token : ++lastToken;
        entries.put(key, new Entry(owner, token, info, expiresNanos));
        return new String[] {"granted", Long.toString(token)};
    }

    /** Answers with the claims that hold nothing any more. */
    private String[] renew(long expiresNanos, Iterator<String> words) {
        List<String> gone = new ArrayList<>();
        while (words.hasNext()) {
            Key key = key(words);
            String owner = words.next();
            Entry present = present(key);
            if (present != null && present.owner.equals(owner)) {
                entries.put(key, new Entry(owner, present.token, present.info, expiresNanos));
            } else {
                gone.add(owner);
            }
        }
        return gone.isEmpty() ? new String[] {"none"} : gone.toArray(String[]::new);
    }

    private String[] free(Key key, String owner) {
        Entry present = present(key);
        boolean held = present != null && present.owner.equals(owner);
        if (held) {
            entries.remove(key);
        }
        return new String[] {Boolean.toString(held)};
    }

    private String[] list(String namespace, String prefix) {
        long now = System.nanoTime();
        entries.values().removeIf(entry -> now - entry.expiresNanos >= 0);
        List<String> found = new ArrayList<>();
        entries.forEach((key, entry) -> {
            if (key.namespace.equals(namespace) && key.name.startsWith(prefix)) {
                found.addAll(List.of(key.name, Long.toString(entry.token), entry.info));
            }
        });
        return found.isEmpty() ? new String[] {"none"} : found.toArray(String[]::new);
    }
}
