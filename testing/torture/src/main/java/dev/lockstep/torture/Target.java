package dev.lockstep.torture;

import dev.lockstep.servers.ServerProcess;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** An engine that workers in processes of their own are to be tortured on. For one thread. */
interface Target extends AutoCloseable {
    /** A description for people. */
    String name();

    Duration ttl();

    /** The ports of its servers on this machine; empty if there is nothing to put a proxy in front of. */
    List<Integer> ports();

    /** The servers to put proxies in front of. */
    default List<InetSocketAddress> servers() {
        return ports().stream()
                .map(port -> new InetSocketAddress(ServerProcess.HOST, port))
                .toList();
    }

    /**
     * Where clients connect.
     *
     * @param ports the ports to go through: {@link #ports()}, or one on this machine for each of {@link #servers()}
     */
    String url(List<Integer> ports);

    /** The parts of it that can be broken. */
    List<Fault> faults();

    /** The records that are left at the engine when it is unused. */
    default List<String> leftovers() {
        return List.of();
    }

    @Override
    void close();
}
