package dev.lockstep.torture;

import dev.lockstep.servers.TcpProxy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** The way of one worker to all servers, which can be broken for it alone. Thread-safe. */
record Links(List<TcpProxy> proxies) implements AutoCloseable {
    static Links to(List<InetSocketAddress> servers) {
        return new Links(servers.stream().map(TcpProxy::to).toList());
    }

    List<Integer> ports() {
        return proxies.stream().map(TcpProxy::port).toList();
    }

    /** Breaks it; gives what heals it. */
    Fault.Heal hurt(Consumer<TcpProxy> fault) {
        proxies.forEach(fault);
        return () -> proxies.forEach(proxy -> {
            proxy.delay(Duration.ZERO);
            proxy.heal();
        });
    }

    int openConnections() {
        return proxies.stream().mapToInt(TcpProxy::openConnections).sum();
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
