package dev.lockstep.torture;

import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.temp.SqliteLibrary;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A target with workers in processes of their own, each with its own way to the servers. Breaks workers and links; the
 * target adds what can be broken of it. For one thread.
 */
final class ProcessRig implements Rig {
    /**
     * The time that it may take until the servers have ended the connections of a closed client: HikariCP, the slowest
     * to close, waits ten seconds for its connections to close and then continues in the background. The rest is for a
     * busy machine, and the time in which this process or the worker was paused does not count.
     */
    private static final Duration CONNECTIONS_END = Duration.ofSeconds(20);

    private final Target target;
    private final String namespace;
    private final List<Desk> desks = new ArrayList<>();
    private @Nullable ObserverServer server;
    private @Nullable Observer observer;
    private int nextClient;
    private int locks;

    /** Where a worker sits; when it dies, another takes its place. */
    private final class Desk implements Hand {
        private final Links links;
        private final String url;
        private ProcessHand worker;

        Desk(Worker.Plan plan, int observerPort) {
            links = Links.to(target.servers());
            url = target.url(links.ports());
            worker = new ProcessHand(url, new WorkerMain.Order(namespace, observerPort, plan));
        }

        void replace() {
            WorkerMain.Order order = worker.order();
            Worker.Plan plan = order.plan();
            Worker.Plan next = new Worker.Plan(nextClient++, plan.settings(), plan.ttl(), plan.pause());
            worker = new ProcessHand(url, new WorkerMain.Order(namespace, order.observerPort(), next));
            worker.awaitReady();
            worker.go(Worker.Pace.WILD);
        }

        @Override
        public int client() {
            return worker.client();
        }

        @Override
        public void go(Worker.Pace pace) {
            worker.go(pace);
        }

        @Override
        public String calls() {
            return worker.calls();
        }

        @Override
        public long stalledNanos() {
            return worker.stalledNanos();
        }

        @Override
        public List<String> quit() {
            List<String> left = new ArrayList<>(worker.quit());
            TimeLimit limit = TimeLimit.of(CONNECTIONS_END, List.of(worker));
            if (!limit.await(() -> links.openConnections() == 0)) {
                left.add(links.openConnections() + " connections");
            }
            return left;
        }
    }

    ProcessRig(Target target, String namespace) {
        this.target = target;
        this.namespace = namespace;
    }

    @Override
    public String name() {
        return target.name();
    }

    @Override
    public Duration ttl() {
        return target.ttl();
    }

    @Override
    public Duration recovery() {
        return WorkerMain.REQUEST_TIMEOUT.plus(WorkerMain.LONGEST_BACKOFF);
    }

    @Override
    public List<Hand> start(Observer itsObserver, List<Worker.Plan> plans) {
        observer = itsObserver;
        ObserverServer opened = new ObserverServer(itsObserver);
        server = opened;
        nextClient = plans.size();
        locks = plans.get(0).locks();
        connect().close(); // whatever must be made first, such as tables, is there before many come at once
        plans.forEach(plan -> desks.add(new Desk(plan, opened.port())));
        desks.forEach(desk -> desk.worker.awaitReady());
        return List.copyOf(desks);
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(target.faults());
        faults.add(onOne("worker paused", Length.ANY, (desk, random) -> {
            desk.worker.process().pause();
            return desk.worker.process()::resume;
        }));
        faults.add(onOne("worker starved", Length.ANY, (desk, random) -> Starvation.of(desk.worker.process())));
        faults.add(onOne("worker killed", Length.MOMENT, (desk, random) -> {
            int client = desk.worker.client();
            desk.worker.process().kill();
            if (observer != null) {
                observer.died(client);
            }
            return desk::replace;
        }));
        if (!target.servers().isEmpty()) {
            faults.add(onLinks("link cut", Length.ANY, TcpProxy::cut));
            faults.add(onLinks("link silent", Length.ANY, TcpProxy::blackHole));
            faults.add(onLinks("replies lost", Length.ANY, TcpProxy::dropReplies));
            faults.add(onLinks("requests stalled", Length.ANY, proxy -> proxy.stall(TcpProxy.Direction.REQUESTS)));
            faults.add(onLinks("replies stalled", Length.ANY, proxy -> proxy.stall(TcpProxy.Direction.REPLIES)));
            faults.add(onLinks("link slow", Length.ANY, this::slow));
            faults.add(onLinks("connections reset", Length.MOMENT, TcpProxy::resetConnections));
        }
        if (target.servers().size() > 1) {
            faults.add(onOneLink("one link cut", TcpProxy::cut));
            faults.add(onOneLink("one link silent", TcpProxy::blackHole));
            faults.add(onOneLink("one link slow", this::slow));
            faults.add(onOneLink("replies of one link lost", TcpProxy::dropReplies));
        }
        faults.add(Fault.of("lock released by force", Length.MOMENT, random -> {
                    int lock = random.nextInt(new Resources(locks).election() + 1);
                    Injected released = Injected.lock(lock);
                    try (LockClient client = connect()) {
                        client.forceRelease(Locks.name(lock));
                    } catch (LockUnavailableException e) {
                        throw new Fault.UnconfirmedException(released, e); // connecting may have failed, or the release
                    }
                    return released;
                })
                .excusing(Rule.EXCLUSION, Rule.ORDER));
        return faults;
    }

    private void slow(TcpProxy link) {
        link.delay(ttl().dividedBy(8));
    }

    /** Does something to a worker. */
    private interface Harm {
        Fault.Act inflict(Desk desk, Random random);
    }

    private Fault onOne(String kind, Length length, Harm harm) {
        return Fault.of(kind, length, (Random random) -> {
            Desk desk = desks.get(random.nextInt(desks.size()));
            int client = desk.client();
            return Injected.client("worker " + client, client, harm.inflict(desk, random));
        });
    }

    private Fault onLinks(String kind, Length length, Consumer<TcpProxy> fault) {
        return onOne(kind, length, (desk, random) -> desk.links.hurt(fault));
    }

    private Fault onOneLink(String kind, Consumer<TcpProxy> fault) {
        return onOne(kind, Length.ANY, (desk, random) -> desk.links.hurtOne(random, fault));
    }

    @Override
    public LockClient connect() {
        String url = target.url(target.ports());
        SqliteLibrary.loadFor(url); // so that a torture that is killed does not leave it
        return Worker.patiently(() -> WorkerMain.connect(url, namespace, ttl(), "torturer"));
    }

    @Override
    public List<String> leftovers() {
        return target.leftovers();
    }

    @Override
    public void close() {
        desks.forEach(desk -> {
            desk.worker.close();
            desk.links.close();
        });
        if (server != null) {
            server.close();
        }
        target.close();
    }
}
