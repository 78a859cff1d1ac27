package dev.lockstep.console;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.console.Blockers.Blocker;
import dev.lockstep.console.Blockers.Edge;
import dev.lockstep.console.Located.Key;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The data of each page of the console, made from samples: maps and lists for {@link Json}. Nothing here asks the
 * engine.
 */
final class Views {
    private static final int MOST_ROWS = 2_000;
    private static final int MOST_BLOCKERS = 25;
    private static final int MOST_OF_HISTORY = 10;
    private static final int MOST_GROUPS = 40;
    private static final int MOST_NODES = 12;
    private static final int MOST_EDGES = 100;
    private static final int MOST_CLIENTS = 300;
    private static final int MOST_USES = 50;
    private static final int MOST_QUEUE = 500;
    private static final int MOST_PREFIXES = 40;

    private final Sample sample;

    Views(Sample sample) {
        this.sample = sample;
    }

    /** The data of every page: the engine's health, the cost of looking, and totals. */
    Map<String, Object> frame(boolean mayRelease) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("version", sample.version());
        view.put("at", sample.at().toEpochMilli());
        view.put("release", mayRelease);
        view.put("engine", engine());
        Sample.Cost cost = sample.cost();
        view.put(
                "cost",
                Map.of(
                        "tookMillis", cost.took().toNanos() / 1e6,
                        "pages", cost.pages(),
                        "truncated", cost.truncated(),
                        "everyMillis", cost.took().plus(cost.pause()).toMillis(),
                        "share", cost.share()));
        view.put(
                "totals",
                Map.of(
                        "locks", sample.locks().size(),
                        "held", sample.held(),
                        "waiting", sample.waiting(),
                        "blockers", sample.blockers().size(),
                        "deadlocks", sample.deadlocks()));
        view.put("namespaces", new TreeSet<>(sample.namespaces()));
        return view;
    }

    private Map<String, Object> engine() {
        Sample.Engine engine = sample.engine();
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("reachable", engine.isReachable());
        view.put("fallback", engine.fallback());
        engine.ping().ifPresent(ping -> view.put("pingMillis", ping.toNanos() / 1e6));
        if (engine.error() != null) {
            view.put("error", engine.error());
        }
        if (engine.answered() != null) {
            view.put("answeredAt", engine.answered().toEpochMilli());
        }
        if (engine.info() != null) {
            view.put("product", engine.info().product());
            view.put("engineVersion", engine.info().version());
            view.put("guarantees", engine.info().guarantees());
            view.put("limits", engine.info().limits());
        }
        return view;
    }

    /**
     * The data that the history keeps: the worst blockers, as far as one page shows them, and none of their locks'
     * queues.
     */
    static Map<String, Object> ofHistory(Sample sample) {
        Views views = new Views(sample);
        Map<String, Object> view = new LinkedHashMap<>();
        String error = sample.engine().error();
        view.put("engine", error == null ? Map.of("reachable", true) : Map.of("reachable", false, "error", error));
        view.putAll(views.blockers(sample.blockers(), MOST_OF_HISTORY));
        return view;
    }

    private Map<String, Object> blockers(List<Blocker> found, int most) {
        return Map.of(
                "blockers",
                found.stream().limit(most).map(this::blocker).toList(),
                "moreBlockers",
                Math.max(0, found.size() - most));
    }

    /** Blockers of which a lock is in a namespace (any if empty) and has a name that begins with a prefix. */
    Map<String, Object> blockers(String namespace, String prefix) {
        List<Blocker> found = sample.blockers().stream()
                .filter(blocker -> blocker.locks().stream().anyMatch(lock -> matches(lock, namespace, prefix)))
                .toList();
        return blockers(found, MOST_BLOCKERS);
    }

    /** All blockers, as far as one picture can show them. */
    Map<String, Object> groups() {
        return Map.of(
                "groups",
                sample.blockers().stream().limit(MOST_GROUPS).map(this::blocker).toList(),
                "more",
                Math.max(0, sample.blockers().size() - MOST_GROUPS));
    }

    Object blocker(Blocker blocker) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("kind", !blocker.isCycle() ? "blocker" : sample.isDeadlock(blocker) ? "deadlock" : "cycle");
        view.put("waiters", blocker.waiters());
        view.put("longestMillis", blocker.longest().toMillis());
        List<Located> shown = blocker.locks().stream().limit(MOST_NODES).toList();
        Set<Key> keys = shown.stream().map(Located::key).collect(Collectors.toSet());
        view.put("locks", shown.stream().map(this::row).toList());
        view.put("more", blocker.locks().size() - shown.size());
        view.put(
                "edges",
                blocker.edges().stream()
                        .filter(edge -> keys.contains(edge.from()) && keys.contains(edge.to()))
                        .limit(MOST_EDGES)
                        .map(this::edge)
                        .toList());
        view.put(
                "cycle",
                blocker.cycle().stream().limit(MOST_EDGES).map(this::edge).toList());
        return view;
    }

    private Map<String, Object> edge(Edge edge) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("namespace", edge.from().namespace());
        view.put("from", edge.from().name());
        view.put("to", edge.to().name());
        view.put("client", edge.holder().holder().client());
        view.put("host", edge.holder().holder().host());
        view.put("thread", edge.waitsFor().thread());
        view.put("forMillis", sample.age(edge.waitsFor().since()).toMillis());
        view.put("bounded", edge.waitsFor().isBounded());
        view.put("certain", edge.certain());
        return view;
    }

    /** The locks of a namespace (all if empty) whose names begin with a prefix. */
    Map<String, Object> locks(String namespace, String prefix, String sort, int limit) {
        List<Located> found = new ArrayList<>();
        for (Located lock : sample.locks()) {
            if (matches(lock, namespace, prefix)) {
                found.add(lock);
            }
        }
        Comparator<Located> byWaiters =
                Comparator.comparingInt(lock -> -lock.info().waiters().size());
        if (sort.equals("held")) {
            found.sort(Comparator.comparing(this::heldSince));
        } else if (!sort.equals("name")) {
            found.sort(byWaiters); // which keeps the order of names
        }
        List<Map<String, Object>> rows = found.stream()
                .limit(Math.max(0, Math.min(limit, MOST_ROWS)))
                .map(this::row)
                .toList();
        return Map.of("total", found.size(), "most", MOST_ROWS, "rows", rows);
    }

    private static boolean matches(Located lock, String namespace, String prefix) {
        return (namespace.isEmpty() || lock.namespace().equals(namespace))
                && lock.info().name().startsWith(prefix);
    }

    private Instant heldSince(Located lock) {
        return lock.info().holders().stream()
                .map(entry -> entry.holder().since())
                .min(Comparator.naturalOrder())
                .orElse(Instant.MAX);
    }

    private Map<String, Object> row(Located lock) {
        LockInfo info = lock.info();
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("namespace", lock.namespace());
        view.put("name", info.name());
        view.put("holders", info.holders().size());
        view.put("waiters", info.waiters().size());
        info.limit().ifPresent(limit -> view.put("limit", limit));
        if (!info.holders().isEmpty()) {
            view.put("holder", entry(info.holders().get(0)));
        }
        info.waiters().stream()
                .map(sample::age)
                .max(Comparator.naturalOrder())
                .ifPresent(longest -> view.put("longestMillis", longest.toMillis()));
        return view;
    }

    /** One lock, with its queue and its recent changes. */
    Map<String, Object> lock(Key key, List<Changes.Change> changes) {
        Optional<Located> found = find(key);
        LockInfo info = found.map(Located::info).orElse(LockInfo.free(key.name()));
        Map<String, Object> view = new LinkedHashMap<>(row(new Located(key.namespace(), info)));
        view.put("unlisted", found.isEmpty() && sample.cost().truncated());
        view.put(
                "holderList",
                info.holders().stream().limit(MOST_QUEUE).map(this::entry).toList());
        view.put(
                "queue",
                info.waiters().stream().limit(MOST_QUEUE).map(this::entry).toList());
        view.put("changes", changes.stream().map(this::change).toList());
        sample.blockers().stream()
                .filter(blocker ->
                        blocker.locks().stream().anyMatch(lock -> lock.key().equals(key)))
                .findFirst()
                .ifPresent(blocker -> view.put("blocker", blocker(blocker)));
        return view;
    }

    private Optional<Located> find(Key key) {
        return sample.locks().stream().filter(lock -> lock.key().equals(key)).findFirst();
    }

    private Map<String, Object> change(Changes.Change change) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("at", change.at().toEpochMilli());
        view.put("kind", change.kind().name().toLowerCase(Locale.ROOT));
        view.put("entry", entry(change.entry()));
        return view;
    }

    private Map<String, Object> entry(LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("client", who.client());
        view.put("host", who.host());
        view.put("pid", who.pid());
        view.put("thread", who.thread());
        view.put("sticky", who.sticky());
        view.put("since", who.since().toEpochMilli());
        view.put("ageMillis", sample.age(entry).toMillis());
        view.put("mode", entry.mode().name().toLowerCase(Locale.ROOT));
        view.put("permits", entry.permits());
        entry.token().ifPresent(token -> view.put("token", Long.toString(token))); // beyond 2⁵³
        entry.remaining().map(Duration::toMillis).ifPresent(left -> view.put("remainingMillis", left));
        entry.waitsFor().ifPresent(wait -> {
            Map<String, Object> waits = new LinkedHashMap<>();
            waits.put("lock", wait.lock());
            waits.put("thread", wait.thread());
            waits.put("forMillis", sample.age(wait.since()).toMillis());
            view.put("waitsFor", waits);
        });
        return view;
    }

    /** Which client holds and waits for what; those that wait or hold most come first. */
    Map<String, Object> clients(String prefix) {
        Map<List<Object>, ClientUses> clients = new LinkedHashMap<>();
        for (Located lock : sample.locks()) {
            for (LockInfo.Entry entry : lock.info().holders()) {
                uses(clients, entry).holds.add(use(lock, entry));
            }
            for (LockInfo.Entry entry : lock.info().waiters()) {
                uses(clients, entry).waits.add(use(lock, entry));
            }
        }
        List<ClientUses> found = new ArrayList<>(clients.values());
        found.removeIf(client -> !client.who.client().startsWith(prefix));
        found.sort(Comparator.comparingInt((ClientUses client) -> -client.waits.size())
                .thenComparingInt(client -> -client.holds.size())
                .thenComparing(client -> client.who.client()));
        return Map.of(
                "total",
                found.size(),
                "rows",
                found.stream().limit(MOST_CLIENTS).map(ClientUses::view).toList());
    }

    private static ClientUses uses(Map<List<Object>, ClientUses> clients, LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        return clients.computeIfAbsent(List.of(who.client(), who.host(), who.pid()), unused -> new ClientUses(who));
    }

    private Map<String, Object> use(Located lock, LockInfo.Entry entry) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("namespace", lock.namespace());
        view.put("name", lock.info().name());
        view.put("thread", entry.holder().thread());
        view.put("mode", entry.mode().name().toLowerCase(Locale.ROOT));
        view.put("ageMillis", sample.age(entry).toMillis());
        entry.waitsFor().ifPresent(wait -> view.put("waitsFor", wait.lock()));
        return view;
    }

    /** The holds and waits of one client. */
    private static final class ClientUses {
        final HolderInfo who;
        final List<Object> holds = new ArrayList<>();
        final List<Object> waits = new ArrayList<>();

        ClientUses(HolderInfo who) {
            this.who = who;
        }

        Map<String, Object> view() {
            Map<String, Object> view = new LinkedHashMap<>();
            view.put("client", who.client());
            view.put("host", who.host());
            view.put("pid", who.pid());
            view.put("held", holds.size());
            view.put("waiting", waits.size());
            view.put("holds", holds.stream().limit(MOST_USES).toList());
            view.put("waits", waits.stream().limit(MOST_USES).toList());
            return view;
        }
    }

    static Map<String, Object> heat(Heat heat) {
        List<Map<String, Object>> rows = heat.rows(MOST_PREFIXES).stream()
                .map(row -> Map.<String, Object>of(
                        "prefix", row.prefix(),
                        "others", row.prefix().equals(Heat.OTHERS),
                        "seconds", row.seconds(),
                        "total", row.total()))
                .toList();
        return Map.of("minutes", heat.minutes(), "rows", rows);
    }

    static Map<String, Object> history(History history, @Nullable Instant at) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put(
                "moments",
                history.moments().stream()
                        .map(moment -> List.of(
                                moment.at().toEpochMilli(),
                                moment.held(),
                                moment.waiting(),
                                moment.deadlocks(),
                                moment.reachable() ? 1 : 0))
                        .toList());
        History.Moment shown = history.at(at == null ? Instant.MAX : at);
        if (shown != null) {
            view.put("at", shown.at().toEpochMilli());
            view.put("held", shown.held());
            view.put("waiting", shown.waiting());
            view.put("shown", shown.shown());
        }
        return view;
    }
}
