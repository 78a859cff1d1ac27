package dev.lockstep.cli;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;
import redis.clients.jedis.resps.Tuple;

/** The keys of one Redis server. */
final class RedisView implements EngineView {
    private final Jedis jedis;
    private final String namespace;
    private final Labels labels;

    RedisView(String url, String namespace, Labels labels) {
        this.jedis = new Jedis(URI.create(url.replaceFirst("\\?.*", "")));
        this.namespace = namespace;
        this.labels = labels;
    }

    @Override
    public List<String> look() {
        List<String> lines = new ArrayList<>();
        keys().forEach(key -> show(key, lines));
        return lines;
    }

    private Set<String> keys() {
        TreeSet<String> keys = new TreeSet<>();
        ScanParams pattern =
                new ScanParams().match("lockstep:{" + namespace + ":*").count(1_000);
        String cursor = ScanParams.SCAN_POINTER_START;
        do {
            ScanResult<String> page = jedis.scan(cursor, pattern);
            keys.addAll(page.getResult());
            cursor = page.getCursor();
        } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
        return keys;
    }

    private void show(String key, List<String> lines) {
        String type = jedis.type(key);
        lines.add(labels.text(key) + "  (" + type + (jedis.pttl(key) > 0 ? ", expires)" : ")"));
        switch (type) {
            case "hash" -> {
                Map<String, String> fields = new TreeMap<>(); // by their names here, which do not change
                jedis.hgetAll(key).forEach((field, value) -> fields.put(text(field), text(value)));
                TextTable table = new TextTable();
                fields.forEach((field, value) -> table.add("  " + field, value));
                lines.addAll(table.lines());
            }
            case "zset" -> {
                List<String> members = new ArrayList<>();
                for (Tuple member : jedis.zrangeWithScores(key, 0, -1)) {
                    members.add(
                            "  " + text(Long.toString((long) member.getScore())) + "  " + text(member.getElement()));
                }
                members.sort(null); // the order of expiry is random
                lines.addAll(members);
            }
            case "string" -> lines.add("  " + text(jedis.get(key)));
            default -> lines.add("  ?");
        }
    }

    /** Holders and waiters are stored as lines: client, host, process, thread, since when, sticky. */
    private String text(String raw) {
        String[] lines = raw.split("\n", -1);
        if (lines.length >= 6) {
            int first = lines.length - 6;
            lines[first + 1] = "<host>";
            lines[first + 2] = "<pid>";
        }
        return labels.text(String.join(" | ", lines)).replaceAll("[ |]+$", "");
    }

    @Override
    public void close() {
        keys().forEach(jedis::del); // the last token, which would expire
        jedis.close();
    }
}
