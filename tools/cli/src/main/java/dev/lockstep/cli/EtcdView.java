package dev.lockstep.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The keys of etcd, by its JSON interface. */
final class EtcdView implements EngineView {
    private static final Pattern KEY_VALUE = Pattern.compile("\\{\"key\":\"[^}]*}");
    private static final Pattern SESSION = Pattern.compile("/client/\\d+/\\d+$");

    /** The number of a session, in its own key or in that of a claim. */
    private static final Pattern NUMBER = Pattern.compile("(?<=/)\\d+(?=(\\.\\d+)?$)");

    private static final Pattern FIELD = Pattern.compile("\"(\\w+)\":\"([^\"]*)\"");

    private final HttpClient http = HttpClient.newHttpClient();
    private final URI range;
    private final String prefix;
    private final Labels labels;

    private record Key(String key, String value, long createRevision, long version, long lease) {}

    EtcdView(String url, String namespace, Labels labels) {
        String member = url.replaceFirst("^etcd://", "").replaceFirst("[,?].*", "");
        String address = member.matches(".*:\\d+$") ? member : member + ":2379";
        this.range = URI.create("http://" + address + "/v3/kv/range");
        this.prefix = "lockstep/" + namespace + "/";
        this.labels = labels;
    }

    @Override
    public List<String> look() throws IOException, InterruptedException {
        String end = prefix.substring(0, prefix.length() - 1) + "0"; // what follows a slash
        String question = "{\"key\":\"" + base64(prefix) + "\",\"range_end\":\"" + base64(end) + "\"}";
        HttpRequest request = HttpRequest.newBuilder(range)
                .POST(HttpRequest.BodyPublishers.ofString(question))
                .build();
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new Refusal(ExitCodes.UNAVAILABLE, "etcd's JSON interface answers " + answer.statusCode());
        }
        List<Key> keys = new ArrayList<>();
        Matcher found = KEY_VALUE.matcher(answer.body());
        while (found.find()) {
            keys.add(key(found.group()));
        }
        keys.sort(Comparator.comparingLong(Key::createRevision));
        Map<String, String> clients = new HashMap<>();
        keys.stream()
                .filter(key -> SESSION.matcher(key.key).find())
                .forEach(key -> clients.put(key.key.replaceFirst(".*/", ""), labels.text(id(key.value))));
        // Keys of one transaction share their revision.
        keys.sort(Comparator.comparingLong(Key::createRevision).thenComparing(key -> name(key, clients)));
        List<String> lines = new ArrayList<>();
        keys.forEach(key -> show(key, clients, lines));
        return lines;
    }

    /** The client's id, which is in the value of its session's key. */
    private static String id(String value) {
        return value.lines()
                .filter(line -> line.startsWith("id="))
                .map(line -> line.substring("id=".length()))
                .findFirst()
                .orElse("");
    }

    private static Key key(String json) {
        String key = "";
        String value = "";
        long created = 0;
        long version = 0;
        long lease = 0;
        Matcher field = FIELD.matcher(json);
        while (field.find()) {
            String text = field.group(2);
            switch (field.group(1)) {
                case "key" -> key = text(text);
                case "value" -> value = text(text);
                case "create_revision" -> created = Long.parseLong(text);
                case "version" -> version = Long.parseLong(text);
                case "lease" -> lease = Long.parseLong(text);
                default -> {}
            }
        }
        return new Key(key, value, created, version, lease);
    }

    /** Of a session's own key the revision says nothing. */
    private void show(Key key, Map<String, String> clients, List<String> lines) {
        String lease = labels.session(key.lease);
        boolean claim = key.key.startsWith(prefix + "lock/");
        String facts = claim
                ? "create revision " + labels.token(key.createRevision) + ", version " + key.version + ", lease "
                        + lease
                : "lease " + lease;
        lines.add(name(key, clients) + "  (" + facts + ")");
        lines.addAll(labels.news(key.key, key.value));
    }

    /** The key, with the client instead of its session's number. */
    private String name(Key key, Map<String, String> clients) {
        return NUMBER.matcher(labels.text(key.key))
                .replaceAll(found -> clients.getOrDefault(found.group(), found.group()));
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    }
}
