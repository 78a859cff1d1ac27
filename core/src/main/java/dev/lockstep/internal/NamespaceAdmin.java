package dev.lockstep.internal;

import dev.lockstep.LockAdmin;
import dev.lockstep.LockInfo;
import dev.lockstep.spi.AdminBackend;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/** What operators see and do, in one namespace. */
final class NamespaceAdmin implements LockAdmin {
    private final Client client;
    private final String namespace;
    private final Supplier<AdminBackend> backend;

    /**
     * Makes one.
     *
     * @param backend that of the namespace, asked for anew by each call
     */
    NamespaceAdmin(Client client, String namespace, Supplier<AdminBackend> backend) {
        this.client = client;
        this.namespace = namespace;
        this.backend = backend;
    }

    String namespace() {
        return namespace;
    }

    @Override
    public LockInfo inspect(String name) {
        Names.requireLockName(name);
        return scaled(client.ask(name, "inspect", () -> backend.get().inspect(name)));
    }

    @Override
    public List<LockInfo> list(String prefix) {
        Objects.requireNonNull(prefix, "prefix");
        String what = "Listing " + (prefix.isEmpty() ? "all locks" : "the locks that begin with '" + prefix + "'")
                + " in namespace '" + namespace + "'";
        return client.ask(null, what, () -> backend.get().list(prefix)).stream()
                .map(NamespaceAdmin::scaled)
                .sorted(Comparator.comparing(LockInfo::name))
                .toList();
    }

    /** The engine's tokens as holders see them. */
    private static LockInfo scaled(LockInfo info) {
        List<LockInfo.Entry> holders = info.holders().stream()
                .map(entry -> entry.token().isPresent()
                        ? entry.withToken(entry.token().getAsLong() << Passage.TOKEN_SHIFT)
                        : entry)
                .toList();
        return LockInfo.of(info.name(), holders, info.waiters());
    }

    @Override
    public boolean forceRelease(String name) {
        Names.requireLockName(name);
        return client.ask(name, "forceRelease", () -> backend.get().forceRelease(name));
    }

    @Override
    public boolean forceRelease(String name, long token) {
        Names.requireLockName(name);
        if (token <= 0) {
            throw new IllegalArgumentException("Lock '" + name + "': a token is positive, not " + token + ".");
        }
        long granted = token >> Passage.TOKEN_SHIFT;
        return client.ask(name, "forceRelease", () -> backend.get().forceRelease(name, granted));
    }
}
