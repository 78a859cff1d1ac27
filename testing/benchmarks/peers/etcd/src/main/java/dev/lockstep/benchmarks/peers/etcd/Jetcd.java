package dev.lockstep.benchmarks.peers.etcd;

import dev.lockstep.benchmarks.worker.Contender;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Election;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * jetcd's Lock, or its Election. All locks of a thread share one lease. Threads cannot share one: to the server a lease is the owner, so
 * that two threads with one lease would both hold the lock.
 */
public final class Jetcd implements Contender {
    private static final long TTL_SECONDS = 30;

    private final boolean election;

    /**
     * Makes it.
     *
     * @param variant {@code election}, or nothing
     */
    public Jetcd(String variant) {
        election = variant.equals("election");
    }

    @Override
    public Client open(String url) {
        io.etcd.jetcd.Client etcd = io.etcd.jetcd.Client.builder()
                .endpoints("http://" + URI.create(url).getAuthority())
                .build();
        return new Locks(etcd, election);
    }

    private static final class Locks implements Client {
        private final io.etcd.jetcd.Client etcd;
        private final ThreadLocal<Long> leases = ThreadLocal.withInitial(this::lease);

        private final boolean election;

        Locks(io.etcd.jetcd.Client etcd, boolean election) {
            this.etcd = etcd;
            this.election = election;
        }

        @Override
        public Mutex mutex(String name) {
            ByteSequence bytes = ByteSequence.from("jetcd/" + name, StandardCharsets.UTF_8);
            if (election) {
                Election elections = etcd.getElectionClient();
                return Mutex.of(
                        () -> elections
                                .campaign(bytes, leases.get(), bytes)
                                .get()
                                .getLeader(),
                        leader -> elections.resign(leader).get());
            }
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
