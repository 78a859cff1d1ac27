package dev.lockstep.torture;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.ProxiedLinks;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A cluster of three members of etcd. */
final class EtcdTarget implements Target {
    private static final Pattern LEASE = Pattern.compile("\"ID\":\"(\\d+)\"");
    private static final Pattern REVISION = Pattern.compile("\"revision\":\"(\\d+)\"");
    private static final Pattern TERM = Pattern.compile("\"raft_term\":\"(\\d+)\"");
    private static final Pattern MEMBER = Pattern.compile("\"member_id\":\"(\\d+)\"");
    private static final Pattern KEYS = Pattern.compile("\"keys\":\\[([^]]+)]");
    private static final Pattern VALUE = Pattern.compile("\"value\":\"([^\"]+)\"");
    private static final Pattern VERSION = Pattern.compile("\"version\":\"([^\"]+)\"");
    private static final Pattern NUMBERS = Pattern.compile("^(\\d+)\\.(\\d+)\\.(\\d+)");
    private static final String ANY_KEY = "{\"key\":\"eA==\"}";
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final Duration OPERATOR = Duration.ofSeconds(30);

    private final ProxiedLinks links = new ProxiedLinks();
    private final ServerGroup<EtcdServer> members = EtcdServer.builder().startCluster(3, links);
    private final HttpClient http = HttpClient.newHttpClient();

    @Override
    public String name() {
        return "etcd";
    }

    @Override
    public Duration ttl() {
        return Duration.ofSeconds(2);
    }

    @Override
    public List<Integer> ports() {
        return members.servers().stream().map(ServerProcess::port).toList();
    }

    @Override
    public String url(List<Integer> ports) {
        return ports.stream()
                .map(port -> ServerProcess.HOST + ":" + port)
                .collect(Collectors.joining(",", "etcd://", ""));
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(List.of(ServerFaults.slowDisk(this::leader)));
        faults.addAll(List.of(
                ServerFaults.paused("leader paused", Length.SHORT, this::leader),
                leaderPausedBeyondTheTtl(),
                ServerFaults.killed("leader killed", this::leader),
                ServerFaults.restarted("leader restarted", this::leader),
                ServerFaults.paused("follower paused", Length.ANY, this::follower),
                ServerFaults.killed("follower killed", this::follower),
                ServerFaults.restarted("follower restarted", this::follower),
                ServerFaults.cutOff("leader cut off", this::leader, members, links, this::isAgreed),
                ServerFaults.cutOff("follower cut off", this::follower, members, links, this::isAgreed),
                Fault.of("history compacted", Length.MOMENT, random -> {
                    String revision = first(REVISION, post("/v3/kv/range", ANY_KEY));
                    post("/v3/kv/compaction", "{\"revision\":\"" + revision + "\",\"physical\":true}");
                    return Injected.all("cluster", Fault.Act.NONE);
                }),
                Fault.of("disk full", Length.SHORT, random -> {
                    String member = first(MEMBER, post("/v3/kv/range", ANY_KEY));
                    Fault.Act heal =
                            () -> Parking.require("there is room", () -> alarm("DEACTIVATE", member), OPERATOR);
                    if (!alarm("ACTIVATE", member)) {
                        heal.run(); // it may have heard
                        throw new IOException("no member takes an alarm");
                    }
                    return Injected.all("cluster", heal);
                }),
                Fault.of("session revoked", Length.MOMENT, this::revokeSession).excusing(Rule.EXCLUSION, Rule.ORDER)));
        return faults;
    }

    private Fault leaderPausedBeyondTheTtl() {
        Fault fault = ServerFaults.paused("leader paused beyond the ttl", Length.LONG, this::leader);
        return endsRenewedLeases(version()) ? fault.excusing(Rule.EXCLUSION, Rule.ORDER) : fault;
    }

    /** The version of the running servers. */
    String version() {
        try {
            return first(VERSION, post("/v3/maintenance/status", "{}"));
        } catch (IOException e) {
            throw new UncheckedIOException("no member says which version it has", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /**
     * Whether a leader of some version that was paused can end leases that another leader has renewed meanwhile (etcd
     * #15247). That was fixed in 3.4.31, in 3.5.13 and before 3.6.0.
     */
    static boolean endsRenewedLeases(String version) {
        Matcher matcher = NUMBERS.matcher(version);
        if (!matcher.find()) {
            throw new IllegalArgumentException("no version of etcd: " + version);
        }
        int[] numbers = {
            Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)), Integer.parseInt(matcher.group(3))
        };
        return Stream.of(new int[] {3, 4, 31}, new int[] {3, 5, 13})
                .filter(fixed -> fixed[0] == numbers[0] && fixed[1] == numbers[1])
                .findFirst()
                .map(fixed -> numbers[2] < fixed[2])
                .orElse(Arrays.compare(numbers, new int[] {3, 4, 0}) < 0);
    }

    /** Whether all members can read what a majority has confirmed, under the same leader. */
    private boolean isAgreed() {
        Set<String> terms = new HashSet<>();
        try {
            for (EtcdServer member : members.servers()) {
                terms.add(first(TERM, ask(member, "/v3/kv/range", ANY_KEY)));
            }
            return terms.size() == 1;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /**
     * Does what etcd does by itself when its space is used up, until an operator has made room. False if it has not
     * heard.
     */
    private boolean alarm(String action, String member) {
        try {
            post(
                    "/v3/maintenance/alarm",
                    "{\"action\":\"" + action + "\",\"memberID\":\"" + member + "\",\"alarm\":\"NOSPACE\"}");
            return true;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /** Ends the lease of a worker that holds or waits. It is known which one before anything is done to it. */
    private Injected revokeSession(Random random) throws IOException, InterruptedException, Fault.UnconfirmedException {
        List<String> leases = new ArrayList<>(all(LEASE, post("/v3/lease/leases", "{}")));
        Collections.shuffle(leases, random);
        for (String lease : leases) {
            OptionalInt worker = workerOf(lease);
            if (worker.isPresent()) {
                Injected revoked = Injected.client("a lease", worker.getAsInt());
                try {
                    post("/v3/lease/revoke", "{\"ID\":\"" + lease + "\"}");
                } catch (IOException e) {
                    throw new Fault.UnconfirmedException(revoked, e);
                }
                return revoked;
            }
        }
        throw new IOException("nobody holds or waits");
    }

    private OptionalInt workerOf(String lease) throws IOException, InterruptedException {
        Optional<String> claim = claims(lease).findFirst();
        if (claim.isEmpty()) {
            return OptionalInt.empty();
        }
        List<String> values = all(VALUE, post("/v3/kv/range", "{\"key\":\"" + claim.get() + "\"}"));
        return values.isEmpty() ? OptionalInt.empty() : WorkerMain.clientIn(decode(values.get(0)));
    }

    /** The keys on a lease that are claims, as the JSON interface shows them. */
    private Stream<String> claims(String lease) throws IOException, InterruptedException {
        String answer = post("/v3/lease/timetolive", "{\"ID\":\"" + lease + "\",\"keys\":true}");
        return all(KEYS, answer).stream()
                .flatMap(keys -> Stream.of(keys.split(",")))
                .map(key -> key.replace("\"", ""))
                .filter(key -> decode(key).contains("/lock/"));
    }

    private static String decode(String value) {
        return new String(Base64.getDecoder().decode(value), StandardCharsets.UTF_8);
    }

    private EtcdServer leader(Random random) {
        return member(true, 0);
    }

    private EtcdServer follower(Random random) {
        return member(false, random.nextInt(2));
    }

    private EtcdServer member(boolean leader, int which) {
        List<EtcdServer> found = members.servers().stream()
                .filter(server -> Guess.of(() -> server.isLeader() == leader))
                .toList();
        return found.isEmpty() ? members.get(which) : found.get(which % found.size());
    }

    /** Asks as an operator would, by the JSON interface of a member that answers. */
    private String post(String path, String json) throws IOException, InterruptedException {
        IOException last = new IOException("no member answers");
        for (EtcdServer member : members.servers()) {
            try {
                return ask(member, path, json);
            } catch (IOException e) {
                last = e;
            }
        }
        throw last;
    }

    private String ask(EtcdServer member, String path, String json) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(member.url() + path))
                .timeout(ANSWER)
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build();
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != HttpURLConnection.HTTP_OK) {
            throw new IOException(member + ": " + answer.body()); // such as that its leader has changed
        }
        return answer.body();
    }

    private static String first(Pattern pattern, String text) {
        return all(pattern, text).get(0);
    }

    private static List<String> all(Pattern pattern, String text) {
        List<String> found = new ArrayList<>();
        for (Matcher matcher = pattern.matcher(text); matcher.find(); ) {
            found.add(matcher.group(1));
        }
        return found;
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.after(ttl().multipliedBy(4), () -> all(LEASE, post("/v3/lease/leases", "{}"))).stream()
                .map(lease -> "lease " + lease)
                .toList();
    }

    @Override
    public void close() {
        members.close();
        links.close();
    }
}
