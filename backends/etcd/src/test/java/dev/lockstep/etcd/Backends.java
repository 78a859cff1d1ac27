package dev.lockstep.etcd;

import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** Opens backends as clients do, for tests that look inside. */
final class Backends implements AutoCloseable {
    private final String namespace;
    private final String url;
    private final List<LockClient> clients = new ArrayList<>();

    Backends(String namespace, String url) {
        this.namespace = namespace;
        this.url = url;
    }

    EtcdBackend open() {
        return open(LockClient.builder());
    }

    EtcdBackend open(LockClient.Builder builder) {
        CompletableFuture<EtcdBackend> opened = new CompletableFuture<>();
        clients.add(builder.namespace(namespace)
                .backend(context -> {
                    EtcdBackend backend =
                            (EtcdBackend) new EtcdProvider().parse(url).open(context);
                    opened.complete(backend);
                    return backend;
                })
                .connect());
        return opened.join();
    }

    static Session session(EtcdBackend backend) {
        return backend.sessions().all().get(0);
    }

    static ClaimKey claimKey(EtcdBackend backend, String lockName) {
        return Objects.requireNonNull(backend.sessions().claimKey(ClaimTerms.lock(lockName, LockMode.EXCLUSIVE)));
    }

    @Override
    public void close() {
        clients.forEach(LockClient::close);
    }
}
