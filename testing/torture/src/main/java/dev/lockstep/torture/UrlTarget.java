package dev.lockstep.torture;

import dev.lockstep.servers.ServerProcess;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An engine that belongs to others: only workers are broken; and their links, if the URL names all servers with
 * their ports and no certificate binds them to these names.
 */
record UrlTarget(String name, String address, Duration ttl) implements Target {
    private static final Pattern SERVERS = Pattern.compile(
            "(?:redis|redlock|zookeeper|etcd|jdbc:postgresql|jdbc:mysql|jdbc:mariadb|jdbc:h2:tcp)://(?:[^/@?]*@)?"
                    + "([\\w.-]+:\\d+(?:,[\\w.-]+:\\d+)*)(?=[/?;]|$).*");
    private static final Pattern SECURE = Pattern.compile("ssl|tls");

    @Override
    public List<InetSocketAddress> servers() {
        Matcher matcher = SERVERS.matcher(address);
        if (!matcher.matches()
                || SECURE.matcher(address.toLowerCase(Locale.ROOT)).find()) {
            return List.of();
        }
        return Stream.of(matcher.group(1).split(","))
                .map(server -> server.split(":"))
                .map(parts -> new InetSocketAddress(parts[0], Integer.parseInt(parts[1])))
                .toList();
    }

    @Override
    public List<Integer> ports() {
        return List.of();
    }

    @Override
    public String url(List<Integer> ports) {
        Matcher matcher = SERVERS.matcher(address);
        if (ports.isEmpty() || !matcher.matches()) {
            return address;
        }
        String links =
                ports.stream().map(port -> ServerProcess.HOST + ":" + port).collect(Collectors.joining(","));
        return address.substring(0, matcher.start(1)) + links + address.substring(matcher.end(1));
    }

    @Override
    public List<Fault> faults() {
        return List.of();
    }

    @Override
    public void close() {}
}
