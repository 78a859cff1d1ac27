package dev.lockstep.servers;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Servers that work as one: an ensemble or a cluster. Thread-safe.
 *
 * @param <S> the servers' type
 */
public class ServerGroup<S extends ServerProcess> implements AutoCloseable {
    private final List<S> servers;

    ServerGroup(List<? extends S> servers) {
        this.servers = List.copyOf(servers);
    }

    /** Starts new servers side by side, or leaves nothing behind. */
    static <S extends ServerProcess> ServerGroup<S> started(List<S> servers) {
        ServerProcess.startAll(servers);
        return new ServerGroup<>(servers);
    }

    /**
     * All members, running or not.
     *
     * @return the servers in the order in which they were made
     */
    public final List<S> servers() {
        return servers;
    }

    /**
     * One member.
     *
     * @param index its place, from 0
     * @return the server
     */
    public final S get(int index) {
        return servers.get(index);
    }

    /**
     * The first running member with some quality, such as being the leader.
     *
     * @param quality what to look for
     * @return the server
     * @throws ServerException if there is none now
     */
    public final S find(Predicate<S> quality) {
        return servers.stream()
                .filter(server -> server.isAlive() && quality.test(server))
                .findFirst()
                .orElseThrow(() -> new ServerException("none of " + servers + " is such"));
    }

    /**
     * Where clients connect.
     *
     * @return {@code 127.0.0.1:port} of every member, separated by commas
     */
    public final String addresses() {
        return servers.stream().map(ServerProcess::address).collect(Collectors.joining(","));
    }

    /** How the servers of a group reach each other. */
    @FunctionalInterface
    public interface Links {
        /**
         * The way from one server to another.
         *
         * @param from which server, as in {@link ServerGroup#get}
         * @param to which other one
         * @param port the port that the other one listens on
         * @return the port that leads there: that one, or a proxy's
         */
        int port(int from, int to, int port);
    }

    /** Closes all members. */
    @Override
    public void close() {
        servers.forEach(ServerProcess::close);
    }

    @Override
    public String toString() {
        return servers.toString();
    }
}
