package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockOptions;
import dev.lockstep.tck.Capability;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The statements of waiters where the database does not push. */
abstract class SqlWaitingContract extends SqlPermitContract {
    private static final LockOptions FAIR = LockOptions.defaults().fair();

    /** As after a request that was carried out and not answered, while others wait. */
    @Test
    void aWaiterThatOwnsTheLockAlreadyHasIt() throws Exception {
        try (TestClient holder = open();
                TestClient first = open();
                TestClient second = open()) {
            holder.client().lock("a", FAIR).acquireAsync().get(SOON, TimeUnit.SECONDS);
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (TestClient client : List.of(first, second)) {
                waiting.add(client.client().lock("a", FAIR).acquireAsync());
                await(
                        "it waits",
                        unused -> holder.client().inspect("a").waiters().size() == waiting.size());
            }
            List<String> claims = holder.client().inspect("a").waiters().stream()
                    .map(waiter -> waiter.claim().orElseThrow())
                    .toList();
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.executeUpdate("UPDATE lockstep_locks SET owner = '" + claims.get(0) + "', session = '"
                        + first.backend().sessions().current().id() + "', head = '" + claims.get(1) + "' WHERE name = '"
                        + key("a") + "'");
                statement.executeUpdate("DELETE FROM lockstep_claims WHERE claim = '" + claims.get(0) + "'");
                connection.commit();
            }
            waiting.get(0).get(SOON, TimeUnit.SECONDS).closeAsync().get(SOON, TimeUnit.SECONDS);
            waiting.get(1).get(SOON, TimeUnit.SECONDS);
        }
    }

    /** Counts of statements. */
    @Nested
    class Polls {
        private boolean isLook(String sql) {
            return sql.startsWith("SELECT l.owner");
        }

        private List<TestClient> openSome(int count) {
            assumeFalse(database().capabilities().contains(Capability.PUSH), "the database pushes");
            List<TestClient> clients = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                clients.add(open());
            }
            return clients;
        }

        /** The number of statements that waiters sent until the head of the queue had looked often. */
        private record Window(int clients, int looksOfTheHead, int looksOfTheLast, List<String> ofClaims) {
            /** Waiters do not write, except to renew their sessions and, from time to time, to check their places. */
            boolean isCalm() {
                return looksOfTheLast <= looksOfTheHead / 2 && ofClaims.size() <= 4 * clients;
            }
        }

        private Window look(List<TestClient> clients) {
            clients.forEach(TestClient::sent);
            int[] looks = new int[clients.size()];
            List<String> ofClaims = new ArrayList<>();
            await("the head has looked", unused -> {
                for (int i = 1; i < looks.length; i++) {
                    for (String sql : clients.get(i).sent()) {
                        if (isLook(sql)) {
                            looks[i]++;
                        } else if (sql.contains("lockstep_claims")) {
                            ofClaims.add(sql);
                        }
                    }
                }
                return looks[1] >= 30;
            });
            return new Window(clients.size(), looks[1], looks[looks.length - 1], ofClaims);
        }

        @Test
        void theHeadOfTheQueueLooksOftenAndTheLastRarely() throws Exception {
            List<TestClient> clients = openSome(6);
            try {
                TestClient holder = clients.get(0);
                Lease held = holder.client().lock("a", FAIR).acquireAsync().get(SOON, TimeUnit.SECONDS);
                List<CompletableFuture<Lease>> waiting = new ArrayList<>();
                for (int i = 1; i < clients.size(); i++) {
                    waiting.add(clients.get(i).client().lock("a", FAIR).acquireAsync());
                    int queued = i;
                    await(
                            "it waits",
                            unused -> holder.client().inspect("a").waiters().size() == queued);
                }
                // A busy machine may delay the head for a while, but not each time.
                Window window = look(clients);
                for (int i = 1; i < 3 && !window.isCalm(); i++) {
                    window = look(clients);
                }
                assertThat(window).matches(Window::isCalm, "calm");
                held.closeAsync().get(SOON, TimeUnit.SECONDS);
                for (CompletableFuture<Lease> lease : waiting) {
                    lease.get(SOON, TimeUnit.SECONDS).closeAsync().get(SOON, TimeUnit.SECONDS);
                }
            } finally {
                clients.forEach(TestClient::close);
            }
        }

        @Test
        void aGrantAmongManyClientsTakesSomeStatements() throws Exception {
            int rounds = 10;
            List<TestClient> clients = openSome(6);
            try {
                clients.get(0).client().lock("a", FAIR).lock();
                clients.get(0).client().lock("a", FAIR).unlock();
                long perGrant = Long.MAX_VALUE;
                for (int i = 0; i < 3 && perGrant > 30; i++) { // a busy machine has more, but not each time
                    perGrant = Math.min(perGrant, statements(clients, rounds) / (rounds * clients.size()));
                }
                assertThat(perGrant).isLessThanOrEqualTo(30);
            } finally {
                clients.forEach(TestClient::close);
            }
        }

        /** How many statements it takes all clients to have the lock so many times each. */
        private long statements(List<TestClient> clients, int rounds) throws Exception {
            clients.forEach(TestClient::sent);
            List<CompletableFuture<Void>> users = new ArrayList<>();
            for (TestClient client : clients) {
                users.add(CompletableFuture.runAsync(() -> {
                    DistributedLock lock = client.client().lock("a", FAIR);
                    for (int i = 0; i < rounds; i++) {
                        lock.lock();
                        lock.unlock();
                    }
                }));
            }
            for (CompletableFuture<Void> user : users) {
                user.get(3 * SOON, TimeUnit.SECONDS);
            }
            return clients.stream().mapToLong(client -> client.sent().size()).sum();
        }

        /** A read without a row lock is enough: it need not wait for its next arrival. */
        @Test
        void aClaimThatWasRemovedFromTheQueueQueuesAgain() throws Exception {
            List<TestClient> clients = openSome(2);
            try {
                TestClient holder = clients.get(0);
                Lease held = holder.client().lock("a", FAIR).acquireAsync().get(SOON, TimeUnit.SECONDS);
                CompletableFuture<Lease> waiting =
                        clients.get(1).client().lock("a", FAIR).acquireAsync();
                await(
                        "it waits",
                        unused -> holder.client().inspect("a").waiters().size() == 1);
                execute("DELETE FROM lockstep_claims WHERE name = ?", key("a"));
                execute("UPDATE lockstep_locks SET head = NULL WHERE name = ?", key("a"));
                await(
                        "it waits again",
                        unused -> holder.client().inspect("a").waiters().size() == 1);
                held.closeAsync().get(SOON, TimeUnit.SECONDS);
                waiting.get(SOON, TimeUnit.SECONDS).closeAsync().get(SOON, TimeUnit.SECONDS);
            } finally {
                clients.forEach(TestClient::close);
            }
        }
    }
}
