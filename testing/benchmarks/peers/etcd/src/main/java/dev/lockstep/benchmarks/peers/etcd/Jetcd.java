package dev.lockstep.benchmarks.peers.etcd;

import dev.lockstep.benchmarks.worker.Contender;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * jetcd's Lock. All locks of a thread share one lease. Threads cannot share one: to the server a lease is the owner, so
 * that two threads with one lease would both hold the lock.
 */
public final class Jetcd implements Contender {
    private static final long TTL_SECONDS = 30;

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public Jetcd(String variant) {}

    @Override
    public Client open(String url) {
        return new Locks(io.etcd.jetcd.Client.builder()
                .endpoints("http://" + URI.create(url).getAuthority())
                .build());
    }

    private static final class Locks implements Client {
        private final io.etcd.jetcd.Client etcd;
        private final ThreadLocal<Long> leases = ThreadLocal.withInitial(this::lease);

        Locks(io.etcd.jetcd.Client etcd) {
            this.etcd = etcd;
        }

        @Override
        public Mutex mutex(String name) {
            ByteSequence bytes = ByteSequence.from("jetcd/" + name, StandardCharsets.UTF_8);
            Map<Thread, ByteSequence> keys = new ConcurrentHashMap<>();
            return new Mutex() {
                @Override
                public void lock() throws Exception {
                    keys.put(
                            Thread.currentThread(),
                            etcd.getLockClient().lock(bytes, leases.get()).get().getKey());
                }

                @Override
                public void unlock() throws Exception {
                    ByteSequence key = keys.remove(Thread.currentThread());
                    if (key != null) {
                        etcd.getLockClient().unlock(key).get();
                    }
                }
            };
        }

        private long lease() {
            try {
                long id = etcd.getLeaseClient().grant(TTL_SECONDS).get().getID();
                etcd.getLeaseClient().keepAlive(id, new Ignored());
                return id;
            } catch (InterruptedException | ExecutionException e) {
                throw new IllegalStateException("no lease", e);
            }
        }

        @Override
        public void close() {
            etcd.close();
        }
    }

    private static final class Ignored implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse response) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }
}
