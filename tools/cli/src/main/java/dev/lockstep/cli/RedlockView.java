package dev.lockstep.cli;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The keys of several independent Redis servers: once, if they are the same everywhere. */
final class RedlockView implements EngineView {
    private static final Pattern URL = Pattern.compile("redlock://(?:([^@]*)@)?([^/?]+)(/[^?]*)?.*");
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int LOOKS = 100;

    private final List<RedisView> servers = new ArrayList<>();

    RedlockView(String url, String namespace, Labels labels) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException("not a redlock:// URL");
        }
        String login = parts.group(1) == null ? "" : parts.group(1) + "@";
        String database = parts.group(3) == null ? "" : parts.group(3);
        for (String host : parts.group(2).split(",", -1)) {
            String address = host.contains(":") ? host : host + ":6379";
            servers.add(new RedisView("redis://" + login + address + database, namespace, labels));
        }
    }

    /**
     * Waits until all servers show the same: a step continues with a majority, so the others may be a moment behind.
     */
    @Override
    public List<String> look() {
        List<List<String>> all = servers.stream().map(RedisView::look).toList();
        for (int i = 0; i < LOOKS && new HashSet<>(all).size() > 1; i++) {
            LockSupport.parkNanos(LOOK_NANOS);
            all = servers.stream().map(RedisView::look).toList();
        }
        List<String> lines = new ArrayList<>();
        if (new HashSet<>(all).size() == 1) {
            show("on each of the " + all.size() + " servers", all.get(0), lines);
        } else {
            for (int i = 0; i < all.size(); i++) {
                show("on server " + (i + 1), all.get(i), lines);
            }
        }
        return lines;
    }

    private static void show(String where, List<String> keys, List<String> lines) {
        lines.add(where + (keys.isEmpty() ? ": nothing" : ":"));
        keys.forEach(key -> lines.add("  " + key));
    }

    @Override
    public void close() {
        servers.forEach(RedisView::close);
    }
}
