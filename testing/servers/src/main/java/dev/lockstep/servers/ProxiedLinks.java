package dev.lockstep.servers;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** A proxy in each way from one server of a group to another, so that one can be cut off from the others. Thread-safe. */
public final class ProxiedLinks implements ServerGroup.Links, AutoCloseable {
    private final Map<Way, TcpProxy> proxies = new ConcurrentHashMap<>();

    private record Way(int from, int to) {}

    /** Links of a group that is not started yet. */
    public ProxiedLinks() {}

    @Override
    public int port(int from, int to, int port) {
        return proxies.computeIfAbsent(new Way(from, to), way -> TcpProxy.to(port))
                .port();
    }

    /**
     * One of the proxies.
     *
     * @param from the place of the server that connects, as in {@link ServerGroup#get}
     * @param to the place of the server that it connects to
     * @return the proxy in between
     */
    public TcpProxy between(int from, int to) {
        return Objects.requireNonNull(proxies.get(new Way(from, to)), "not linked");
    }

    /**
     * Swallows all that one server and the others say to each other: a partition, without an error. Its clients still
     * reach it.
     *
     * @param place the server's place, as in {@link ServerGroup#get}
     */
    public void cutOff(int place) {
        proxies.forEach((way, proxy) -> {
            if (way.from == place || way.to == place) {
                proxy.blackHole();
            }
        });
    }

    /** Lets all reach each other again. */
    public void heal() {
        proxies.values().forEach(TcpProxy::heal);
    }

    /** Closes the proxies. */
    @Override
    public void close() {
        proxies.values().forEach(TcpProxy::close);
    }
}
