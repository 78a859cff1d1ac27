package dev.lockstep.spring.boot;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockstepException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * The actuator endpoint {@code locks}: which locks are held or waited for, and by whom; and what this process does, thread by
 * thread. Safe for use by many threads.
 */
@Endpoint(id = "locks")
public class LocksEndpoint {
    private final Map<String, LockClient> clients;

    LocksEndpoint(Map<String, LockClient> clients) {
        this.clients = clients;
    }

    /**
     * Lists the locks. If the engine does not answer, what this process holds and waits for is shown all the same.
     *
     * @return what each client sees, by the client's bean name
     */
    @ReadOperation
    public Map<String, ClientView> locks() {
        Map<String, ClientView> found = new LinkedHashMap<>();
        clients.forEach((name, client) -> found.put(name, ClientView.of(client)));
        return found;
    }

    /**
     * Shows one lock.
     *
     * @param name the lock's name
     * @return the lock at each client, by the client's bean name
     */
    @ReadOperation
    public Map<String, LockView> lock(@Selector String name) {
        Map<String, LockView> found = new LinkedHashMap<>();
        clients.forEach((bean, client) -> found.put(bean, LockView.of(client.inspect(name))));
        return found;
    }

    /**
     * What a client sees, for people.
     *
     * @param locks the locks of all processes; empty if the engine did not answer
     * @param error why the locks are missing; empty if they are not
     * @param fallback whether the client uses its fallback now
     * @param holds what this process holds
     * @param waiters what this process waits for
     */
    public record ClientView(
            List<LockView> locks, String error, boolean fallback, List<UseView> holds, List<UseView> waiters) {
        static ClientView of(LockClient client) {
            List<LockView> locks = List.of();
            String error = "";
            try {
                locks = client.list("").stream().map(LockView::of).toList();
            } catch (LockstepException e) {
                error = String.valueOf(e.getMessage());
            }
            ClientSnapshot own = client.snapshot();
            return new ClientView(
                    locks,
                    error,
                    client.inFallback(),
                    own.holds().stream().map(UseView::of).toList(),
                    own.waiters().stream().map(UseView::of).toList());
        }
    }

    /**
     * A hold of this process, or a call that waits, for people.
     *
     * @param lock the lock's name
     * @param mode exclusive or shared
     * @param thread the thread; empty if it belongs to none
     * @param duration for how long
     * @param handOffs how often the lock was handed off between threads of this process
     * @param token the fencing token; empty if nobody has asked for it
     */
    public record UseView(String lock, String mode, String thread, String duration, int handOffs, String token) {
        static UseView of(ClientSnapshot.Use use) {
            return new UseView(
                    use.lockName(),
                    use.mode().name(),
                    use.threadName().orElse(""),
                    use.duration().toString(),
                    use.handOffs(),
                    use.token().isPresent() ? Long.toString(use.token().getAsLong()) : "");
        }
    }

    /**
     * A lock, for people.
     *
     * @param name the lock's name
     * @param holders who holds it
     * @param waiters who waits for it
     */
    public record LockView(String name, List<EntryView> holders, List<EntryView> waiters) {
        static LockView of(LockInfo info) {
            return new LockView(
                    info.name(),
                    info.holders().stream().map(EntryView::of).toList(),
                    info.waiters().stream().map(EntryView::of).toList());
        }
    }

    /**
     * A holder or waiter, for people.
     *
     * @param mode exclusive or shared
     * @param token the fencing token; empty if there is none
     * @param client the client's name
     * @param host its host
     * @param pid its process
     * @param thread its thread
     * @param since since when, by the client's clock
     */
    public record EntryView(
            String mode, String token, String client, String host, long pid, String thread, String since) {
        static EntryView of(LockInfo.Entry entry) {
            return new EntryView(
                    entry.mode().name(),
                    entry.token().isPresent() ? Long.toString(entry.token().getAsLong()) : "",
                    entry.holder().client(),
                    entry.holder().host(),
                    entry.holder().pid(),
                    entry.holder().thread(),
                    entry.holder().since().toString());
        }
    }

    /** The same, for those who may take locks away: {@code lockstep.endpoint.force-release=true}. */
    @Endpoint(id = "locks")
    public static class WithRelease extends LocksEndpoint {
        private final Map<String, LockClient> clients;

        WithRelease(Map<String, LockClient> clients) {
            super(clients);
            this.clients = clients;
        }

        /**
         * Takes a lock away from its holder, who may still be at work; see {@link LockClient#forceRelease(String)}.
         *
         * @param name the lock's name
         * @return whether somebody held it, by the client's bean name
         */
        @DeleteOperation
        public Map<String, Boolean> release(@Selector String name) {
            Map<String, Boolean> released = new LinkedHashMap<>();
            clients.forEach((bean, client) -> released.put(bean, client.forceRelease(name)));
            return released;
        }
    }
}
