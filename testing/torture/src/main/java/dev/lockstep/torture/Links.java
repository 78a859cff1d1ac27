package dev.lockstep.torture;

import dev.lockstep.servers.TcpProxy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
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
    Fault.Act hurt(Consumer<TcpProxy> fault) {
        return hurt(proxies, fault);
    }

    /** Breaks the way to one of the servers; gives what heals it. */
    Fault.Act hurtOne(Random random, Consumer<TcpProxy> fault) {
        return hurt(List.of(proxies.get(random.nextInt(proxies.size()))), fault);
    }

    private static Fault.Act hurt(List<TcpProxy> some, Consumer<TcpProxy> fault) {
        some.forEach(fault);
        return () -> some.forEach(proxy -> {
            proxy.delay(Duration.ZERO);
            proxy.heal();
        });
    }

    /**
     * The connections that the servers have not ended: H2's driver forgets to close its side of some that they have.
     */
    int openConnections() {
        return proxies.stream().mapToInt(TcpProxy::servedConnections).sum();
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
