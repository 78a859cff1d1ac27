package dev.lockstep.release;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Takes a deployment on this machine as the Central Portal does, and unpacks it into a folder. It validates nothing: the
 * tests do.
 */
final class Portal implements AutoCloseable {
    private static final String ID = "28570f16-da32-4c14-bd2e-c1acc0782365";

    private final Path repository;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> uploads = new CopyOnWriteArrayList<>();

    Portal(Path repository) throws IOException {
        this.repository = repository;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/api/v1/publisher/upload", this::upload);
        server.createContext(
                "/api/v1/publisher/status",
                exchange ->
                        answer(exchange, 200, "{\"deploymentId\":\"" + ID + "\",\"deploymentState\":\"VALIDATED\"}"));
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** The parameters of each upload. */
    List<String> uploads() {
        return uploads;
    }

    private void upload(HttpExchange exchange) throws IOException {
        uploads.add(exchange.getRequestURI().getQuery());
        unpack(file(exchange.getRequestBody().readAllBytes()));
        answer(exchange, 201, ID);
    }

    /** The only part of a form: what is between the empty line after its headers and the boundary at its end. */
    private static byte[] file(byte[] form) {
        String text = new String(form, StandardCharsets.ISO_8859_1);
        int begin = text.indexOf("\r\n\r\n") + 4;
        int end = text.lastIndexOf("\r\n--");
        return text.substring(begin, end).getBytes(StandardCharsets.ISO_8859_1);
    }

    private void unpack(byte[] bundle) throws IOException {
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(bundle))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                if (!entry.isDirectory()) {
                    Path file = repository.resolve(entry.getName());
                    Files.createDirectories(file.resolveSibling(""));
                    Files.copy(zip, file);
                }
            }
        }
    }

    private static void answer(HttpExchange exchange, int code, String text) throws IOException {
        try (exchange;
                InputStream unread = exchange.getRequestBody()) {
            unread.readAllBytes();
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(code, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
