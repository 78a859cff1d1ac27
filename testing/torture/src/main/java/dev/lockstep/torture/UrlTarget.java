package dev.lockstep.torture;

import java.time.Duration;
import java.util.List;

/** An engine that belongs to somebody else: only workers are broken. */
record UrlTarget(String name, String address, Duration ttl) implements Target {
    @Override
    public List<Integer> ports() {
        return List.of();
    }

    @Override
    public String url(List<Integer> ports) {
        return address;
    }

    @Override
    public List<Fault> faults() {
        return List.of();
    }

    @Override
    public void close() {}
}
