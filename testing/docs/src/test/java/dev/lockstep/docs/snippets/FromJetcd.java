package dev.lockstep.docs.snippets;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.etcd.jetcd.support.Observers;
import java.nio.charset.StandardCharsets;

/** The code of jetcd and ours. */
final class FromJetcd {
    private FromJetcd() {}

    static void theirs(Runnable work) throws Exception {
        // tag::jetcd-theirs
        Client client = Client.builder().endpoints("http://localhost:2379").build();
        long leaseId = client.getLeaseClient().grant(30).get().getID();
        CloseableClient keepAlive =
                client.getLeaseClient().keepAlive(leaseId, Observers.<LeaseKeepAliveResponse>observer(response -> {}));
        ByteSequence name = ByteSequence.from("order:42", StandardCharsets.UTF_8);
        ByteSequence key =
                client.getLockClient().lock(name, leaseId).get().getKey(); // waits indefinitely: there is no tryLock
        try {
            work.run();
        } finally {
            client.getLockClient().unlock(key).get();
            keepAlive.close();
        }
        // end::jetcd-theirs
    }

    static void ours(String url, Runnable work) throws InterruptedException {
        // tag::jetcd-ours
        LockClient locks = LockClient.connect(url); // etcd://localhost:2379
        try (Lease lease = locks.lock("order:42").acquire()) { // or tryAcquire, with or without a time
            work.run();
        }
        // end::jetcd-ours
        locks.close();
    }
}
