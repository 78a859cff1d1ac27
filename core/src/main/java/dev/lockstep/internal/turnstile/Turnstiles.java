package dev.lockstep.internal.turnstile;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The turnstiles of a client, by name. An idle one stays for its next use until there are twice as many as were in use
 * at the last look; then all idle ones go. So a name in steady use costs no map operation, and names that are used once
 * cost nothing in the end.
 */
public final class Turnstiles {
    private static final int MIN_SWEEP = 256;

    private final TurnstileContext client;
    private final ConcurrentHashMap<String, Turnstile> byName = new ConcurrentHashMap<>();
    private final AtomicLong serials = new AtomicLong();
    private volatile int sweepAt = MIN_SWEEP;

    Turnstiles(TurnstileContext client) {
        this.client = client;
    }

    Turnstile of(String name) {
        Turnstile known = byName.get(name);
        if (known != null) {
            return known;
        }
        if (byName.size() >= sweepAt) {
            sweep();
        }
        return byName.computeIfAbsent(name, key -> new Turnstile(client, key, serials.incrementAndGet()));
    }

    /** Lets idle turnstiles go. A lock that still knows one finds it retired and asks for its successor. */
    public void sweep() {
        byName.forEach((name, turnstile) -> {
            if (turnstile.retire()) {
                byName.remove(name, turnstile);
            }
        });
        sweepAt = Math.max(MIN_SWEEP, 2 * byName.size());
    }

    public Collection<Turnstile> all() {
        return byName.values();
    }
}
