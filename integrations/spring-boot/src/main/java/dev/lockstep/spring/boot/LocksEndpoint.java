package dev.lockstep.spring.boot;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockstepException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.lang.Nullable;

/**
 * The actuator endpoint {@code locks}: which locks are held or waited for, and by whom; and what this process does, thread by
 * thread. Safe for use by many threads.
 */
@Endpoint(id = "locks")
public class LocksEndpoint {
    private static final Executor IN_A_THREAD = work -> {
        Thread thread = new Thread(work, "lockstep-endpoint");
        thread.setDaemon(true);
        thread.start();
    };

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
        return ofEach(ClientView::of);
    }

    /**
     * Shows one lock.
     *
     * @param name the lock's name, which may contain slashes
     * @return the lock at each client, by the client's bean name: a {@link LockView}, or an {@code error} if its engine does not
     *     answer
     */
    @ReadOperation
    public Map<String, Object> lock(@Selector(match = Selector.Match.ALL_REMAINING) String... name) {
        return ofEach(client -> {
            try {
                return LockView.of(client.inspect(name(name)));
            } catch (LockstepException e) {
                return Map.of("error", String.valueOf(e.getMessage()));
            }
        });
    }

    private static String name(String[] parts) {
        return String.join("/", parts);
    }

    /** Asks all clients at the same time, so that engines that are silent do not add up. */
    private <T> Map<String, T> ofEach(Function<LockClient, T> question) {
        Map<String, CompletableFuture<T>> answers = new LinkedHashMap<>();
        clients.forEach((name, client) -> answers.put(
                name,
                clients.size() == 1
                        ? CompletableFuture.completedFuture(question.apply(client))
                        : CompletableFuture.supplyAsync(() -> question.apply(client), IN_A_THREAD)));
        Map<String, T> found = new LinkedHashMap<>();
        answers.forEach((name, answer) -> found.put(name, answer.join()));
        return found;
    }

    /**
     * The state of a client, for people to read.
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

    /** The same, with releases by force: {@code lockstep.endpoint.force-release=true}. */
    @Endpoint(id = "locks")
    public static class WithRelease extends LocksEndpoint {
        private final Map<String, LockClient> clients;

        WithRelease(Map<String, LockClient> clients) {
            super(clients);
            this.clients = clients;
        }

        /**
         * Releases the lock of one holder by force; it may still be at work; see {@link LockClient#forceRelease(String, long)}.
         * The token says which holder, so that no other one loses the lock if that holder has released it meanwhile.
         *
         * @param name the lock's name, which may contain slashes
         * @param token the holder's token, as the endpoint shows it
         * @param client the bean name of a client; needed if there are several
         * @return whether that holder had the lock, by the client's bean name
         */
        @DeleteOperation
        public Map<String, Boolean> release(
                @Selector(match = Selector.Match.ALL_REMAINING) String[] name, long token, @Nullable String client) {
            String chosen = client != null || clients.size() > 1
                    ? client
                    : clients.keySet().iterator().next();
            LockClient at = chosen == null ? null : clients.get(chosen);
            if (chosen == null || at == null) {
                String message = "The parameter 'client' must be one of " + clients.keySet() + ".";
                throw new InvalidEndpointRequestException(message, message);
            }
            if (token <= 0) {
                String message = "The parameter 'token' must be that of a holder.";
                throw new InvalidEndpointRequestException(message, message);
            }
            return Map.of(chosen, at.forceRelease(name(name), token));
        }
    }
}
