package dev.lockstep.torture;

import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.ProxiedLinks;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** An ensemble of three ZooKeeper servers. */
final class ZooKeeperTarget implements Target {
    /** One with ephemeral nodes, and the first of these. */
    private static final Pattern SESSION = Pattern.compile("(?m)^0x([0-9a-f]+):\\R\\s+(/\\S+)$");

    private static final Duration ANSWER = Duration.ofSeconds(5);

    /** How ZooKeeper's servers make the password of a session from its id. */
    private static final long PASSWORD_SEED = 0xB3415C00L;

    private static final int PASSWORD_BYTES = 16;

    private static final int SERVERS = 3;
    private static final Set<String> ROLES = Set.of("leader", "follower");

    private final Machines machines = new Machines(SERVERS);
    private final ProxiedLinks links = new ProxiedLinks();
    private final ServerGroup<ZooKeeperServer> servers = ZooKeeperServer.builder()
            .durable()
            .on(machines.all().toArray(new HostFaults[0]))
            .startEnsemble(SERVERS, links);

    @Override
    public String name() {
        return "zookeeper";
    }

    @Override
    public Duration ttl() {
        return Duration.ofSeconds(2);
    }

    @Override
    public List<Integer> ports() {
        return servers.servers().stream().map(ServerProcess::port).toList();
    }

    @Override
    public String url(List<Integer> ports) {
        return ports.stream()
                .map(port -> ServerProcess.HOST + ":" + port)
                .collect(Collectors.joining(",", "zookeeper://", ""));
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(machines.clocks(ttl()));
        faults.addAll(machines.slowDisks());
        // No full disks: a server may continue with a hole in its log then, and cannot be started on it again.
        faults.addAll(List.of(
                ServerFaults.paused("leader paused", Length.ANY, this::leader),
                ServerFaults.killed("leader killed", this::leader),
                ServerFaults.restarted("leader restarted", this::leader),
                ServerFaults.paused("follower paused", Length.ANY, this::follower),
                ServerFaults.killed("follower killed", this::follower),
                ServerFaults.restarted("follower restarted", this::follower),
                ServerFaults.cutOff("leader cut off", this::leader, servers, links, this::isAgreed),
                ServerFaults.cutOff("follower cut off", this::follower, servers, links, this::isAgreed),
                Fault.of("session ended", Length.MOMENT, this::endSession).excusing(Rule.EXCLUSION, Rule.ORDER)));
        return faults;
    }

    private boolean isAgreed() {
        return servers.servers().stream().allMatch(server -> Guess.of(() -> ROLES.contains(server.mode())));
    }

    /**
     * A client that holds or waits.
     *
     * @param id of the session
     * @param node one of its nodes
     */
    private record Session(long id, String node) {}

    /** Opens a client, with a session of its own or with that of another. */
    private interface Opening {
        ZooKeeper open(String addresses, int timeoutMillis, Watcher watcher) throws IOException;
    }

    /**
     * Ends the session of a worker that holds or waits, as its owner would: with its id and password, which is known. It is
     * known which worker before anything is done to it.
     */
    private Injected endSession(Random random) throws IOException, InterruptedException, Fault.UnconfirmedException {
        List<Session> sessions = sessions();
        if (sessions.isEmpty()) {
            throw new IOException("nobody has a node");
        }
        Session victim = sessions.get(random.nextInt(sessions.size()));
        Injected ended = Injected.client("a session", workerOf(victim));
        byte[] password = new byte[PASSWORD_BYTES];
        new Random(victim.id ^ PASSWORD_SEED).nextBytes(password);
        try {
            // Closing it ends the session. This may happen even if it was not connected in time.
            connect((addresses, timeout, watcher) -> new ZooKeeper(addresses, timeout, watcher, victim.id, password))
                    .close();
        } catch (IOException e) {
            throw new Fault.UnconfirmedException(ended, e);
        }
        return ended;
    }

    /** The worker that made a session's node; an exception if the node is gone, or is none of a worker's. */
    private int workerOf(Session session) throws IOException, InterruptedException {
        try (ZooKeeper reader = connect(ZooKeeper::new)) {
            String text = new String(reader.getData(session.node, false, null), StandardCharsets.UTF_8);
            return WorkerMain.clientIn(text).orElseThrow(() -> new IOException("no worker made " + session.node));
        } catch (KeeperException e) {
            throw new IOException(e);
        }
    }

    private ZooKeeper connect(Opening opening) throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        Watcher watcher = event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        };
        ZooKeeper client = opening.open(servers.addresses(), (int) ttl().toMillis(), watcher);
        if (!connected.await(ANSWER.toMillis(), TimeUnit.MILLISECONDS)) {
            client.close();
            throw new IOException("the session had ended, or no server answers");
        }
        return client;
    }

    /** The sessions that have nodes: holders and waiters. */
    private List<Session> sessions() {
        return SESSION.matcher(member("leader", 0).report("dump"))
                .results()
                .map(match -> new Session(Long.parseUnsignedLong(match.group(1), 16), match.group(2)))
                .toList();
    }

    private ZooKeeperServer leader(Random random) {
        return member("leader", 0);
    }

    private ZooKeeperServer follower(Random random) {
        return member("follower", random.nextInt(2));
    }

    /** A member by its role; while the ensemble has not agreed on roles, any. */
    private ZooKeeperServer member(String role, int which) {
        List<ZooKeeperServer> members = servers.servers().stream()
                .filter(server -> Guess.of(() -> server.mode().equals(role)))
                .toList();
        return members.isEmpty() ? servers.get(which) : members.get(which % members.size());
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.after(
                ttl().multipliedBy(4),
                () -> sessions().stream()
                        .map(session -> "nodes of session 0x" + Long.toHexString(session.id))
                        .toList());
    }

    @Override
    public void close() {
        servers.close();
        links.close();
        machines.close();
    }
}
