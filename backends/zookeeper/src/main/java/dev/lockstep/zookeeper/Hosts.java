package dev.lockstep.zookeeper;

import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * Chooses the server that ZooKeeper's client tries next, and the pause before it: the client's own backoff in place of
 * a whole second. It also knows when the try began that led to the connection: a session lives at least its timeout
 * from then on, since connecting touches it at the leader. Called by ZooKeeper's sending thread; the time is read by
 * others.
 */
final class Hosts implements HostProvider {
    private final StaticHostProvider servers;
    private final Scheduler scheduler;
    private final Backoff backoff;
    private int tries;
    private long tryNanos;
    private volatile long connectedNanos;

    Hosts(Collection<InetSocketAddress> servers, Scheduler scheduler, Backoff backoff) {
        this.servers = new StaticHostProvider(servers);
        this.scheduler = scheduler;
        this.backoff = backoff;
        this.connectedNanos = scheduler.nanoTime();
    }

    /** When the try began that led to the last connection. */
    long connectedNanos() {
        return connectedNanos;
    }

    @Override
    public int size() {
        return servers.size();
    }

    @Override
    public InetSocketAddress next(long spinDelayMillis) {
        int rounds = tries++ / servers.size();
        InetSocketAddress next =
                servers.next(Math.min(spinDelayMillis, backoff.delay(rounds).toMillis()));
        tryNanos = scheduler.nanoTime();
        return next;
    }

    @Override
    public void onConnected() {
        servers.onConnected();
        tries = 0;
        connectedNanos = tryNanos;
    }

    /** Called to leave a silent server: the servers are the same, and the client wants a new connection. */
    @Override
    public boolean updateServerList(Collection<InetSocketAddress> addresses, InetSocketAddress current) {
        return true;
    }
}
