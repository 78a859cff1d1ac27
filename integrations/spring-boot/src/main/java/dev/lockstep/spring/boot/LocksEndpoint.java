package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/** The actuator endpoint {@code locks}: which locks are held or waited for, and by whom. Safe for use by many threads. */
@Endpoint(id = "locks")
public class LocksEndpoint {
    private final Map<String, LockClient> clients;

    LocksEndpoint(Map<String, LockClient> clients) {
        this.clients = clients;
    }

    /**
     * Lists the locks.
     *
     * @return the locks of each client, by the client's bean name
     */
    @ReadOperation
    public Map<String, List<LockView>> locks() {
        Map<String, List<LockView>> found = new LinkedHashMap<>();
        clients.forEach((name, client) ->
                found.put(name, client.list("").stream().map(LockView::of).toList()));
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
