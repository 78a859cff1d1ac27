package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Talks to etcd as an operator would, by its JSON interface: nothing of the code under test is in between. */
final class Gateway {
    private static final Pattern KV = Pattern.compile("\\{\"key\":\"[^}]*}");

    private final String url;
    private String token = "";

    Gateway(EtcdServer server) {
        this.url = server.url();
    }

    /** A key as etcd shows it. */
    record Kv(String key, String value, long createRevision, long version, long lease) {}

    List<Kv> list(String prefix) {
        String answer = post(
                "/v3/kv/range",
                "{\"key\":\"" + base64(prefix) + "\",\"range_end\":\""
                        + base64(prefix.substring(0, prefix.length() - 1)
                                + (char) (prefix.charAt(prefix.length() - 1) + 1))
                        + "\"}");
        List<Kv> all = new ArrayList<>();
        Matcher kvs = KV.matcher(answer);
        while (kvs.find()) {
            String kv = kvs.group();
            all.add(new Kv(
                    text(field(kv, "key")),
                    text(field(kv, "value")),
                    number(kv, "create_revision"),
                    number(kv, "version"),
                    number(kv, "lease")));
        }
        return all;
    }

    void put(String key, String value) {
        post("/v3/kv/put", "{\"key\":\"" + base64(key) + "\",\"value\":\"" + base64(value) + "\"}");
    }

    void delete(String key) {
        post("/v3/kv/deleterange", "{\"key\":\"" + base64(key) + "\"}");
    }

    long revision() {
        return number(post("/v3/kv/range", "{\"key\":\"" + base64("x") + "\"}"), "revision");
    }

    void compact() {
        post("/v3/kv/compaction", "{\"revision\":\"" + revision() + "\",\"physical\":true}");
    }

    void defragment() {
        post("/v3/maintenance/defragment", "{}");
    }

    long sizeInUse() {
        return number(post("/v3/maintenance/status", "{}"), "dbSizeInUse");
    }

    void revoke(long lease) {
        post("/v3/lease/revoke", "{\"ID\":\"" + lease + "\"}");
    }

    int leases() {
        return post("/v3/lease/leases", "{}").split("\"ID\"", -1).length - 1;
    }

    /** Does what etcd does by itself when its space is used up: arms its alarm, or disarms it. */
    void noSpace(boolean armed) {
        String member = field(post("/v3/kv/range", "{\"key\":\"" + base64("x") + "\"}"), "member_id");
        post(
                "/v3/maintenance/alarm",
                "{\"action\":\"" + (armed ? "ACTIVATE" : "DEACTIVATE") + "\",\"memberID\":\"" + member
                        + "\",\"alarm\":\"NOSPACE\"}");
    }

    void login(String user, String password) {
        token = field(
                post("/v3/auth/authenticate", "{\"name\":\"" + user + "\",\"password\":\"" + password + "\"}"),
                "token");
    }

    String post(String path, String json) {
        try {
            HttpURLConnection connection = (HttpURLConnection) new URL(url + path).openConnection();
            connection.setDoOutput(true); // which makes it a POST
            if (!token.isEmpty()) {
                connection.setRequestProperty("Authorization", token);
            }
            try (OutputStream body = connection.getOutputStream()) {
                body.write(json.getBytes(StandardCharsets.UTF_8));
            }
            boolean done = connection.getResponseCode() == HttpURLConnection.HTTP_OK;
            try (InputStream body = done ? connection.getInputStream() : connection.getErrorStream()) {
                String answer = new String(body.readAllBytes(), StandardCharsets.UTF_8);
                if (!done) {
                    throw new IllegalStateException(path + ": " + answer);
                }
                return answer;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(path, e);
        }
    }

    private static String field(String json, String name) {
        Matcher field = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
        return field.find() ? field.group(1) : "";
    }

    private static long number(String json, String name) {
        String text = field(json, name);
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }

    static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    }
}
