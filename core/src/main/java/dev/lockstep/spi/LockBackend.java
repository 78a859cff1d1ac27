package dev.lockstep.spi;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockConfigurationException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One engine, for one client. Turns claims of clients into grants, at most one exclusive grant of a name at a time.
 *
 * <p>Clauses, each a test of the contract test:
 *
 * <ul>
 *   <li><b>No call waits.</b> A call returns at once, except that one with a positive {@code blockAtMost} may do its one
 *       round trip in the caller's thread, for that long at most. Everything else is the returned stage's.
 *   <li><b>A claim id makes a retried request idempotent.</b> Retrying, reconnecting and queueing again after a new
 *       session are the backend's; deadlines are the core's.
 *   <li><b>An exception means unknown.</b> The core then starts the withdrawal and reports.
 *   <li><b>Validity</b> counts from the {@link Scheduler#nanoTime()} read before the request that won or renewed the
 *       grant was sent, less a drift margin. That clock counts suspensions of the machine; a backend reads no other.
 *   <li><b>A wake-up is a hint</b> and may never come: every wait has a floor and a ceiling. {@link GrantListener#wanted} is
 *       repeated by waiters' refreshes and by renewals, so that one lost push is not for ever.
 *   <li><b>Tokens.</b> Exclusive grants of a name have strictly rising tokens. A shared grant's token is above that of
 *       every earlier exclusive grant and below that of every later one. Tokens are positive and below 2<sup>53</sup>.
 *   <li><b>Fairness.</b> Where {@link Traits#fair()}, claims that may not barge are granted in order of arrival, and a
 *       waiting exclusive claim goes before shared claims that come after it.
 *   <li><b>Stages</b> may be completed on any thread, also inside the call. The core's continuations are short and do
 *       not block.
 * </ul>
 *
 * <p>Safe for use by many threads.
 */
public interface LockBackend extends AdminBackend, AutoCloseable {
    /**
     * What this engine can do.
     *
     * @return the same traits for the life of the backend
     */
    Traits traits();

    /**
     * Asks for a lock.
     *
     * @param request what is asked
     * @return the claim, whose outcome is the answer
     */
    Claim submit(ClaimRequest request);

    /**
     * When the engine last answered anything.
     *
     * @return the {@link Scheduler#nanoTime()} at which the last answered request was sent
     */
    long lastContactNanos();

    /**
     * Asks the engine for a sign of life. One that answers but could not write a claim down, such as a replica, gives none.
     *
     * @return done when it has answered; exceptional if it has not within the request timeout
     */
    CompletionStage<Void> ping();

    /**
     * Names the namespaces of the engine: all in which a lock is held or waited for, and perhaps more. Costs a few requests
     * for each namespace at most, or a scan in steps; never one for each lock.
     *
     * @return the namespaces, in any order; none if the engine cannot list them
     */
    default CompletionStage<List<String>> namespaces() {
        return CompletableFuture.completedFuture(List.of());
    }

    /**
     * What operators ask of another namespace.
     *
     * @param namespace the namespace
     * @return its locks, over this backend's connections
     * @throws LockConfigurationException if the engine cannot list its namespaces either
     */
    default AdminBackend admin(String namespace) {
        throw new LockConfigurationException(
                null,
                "This engine shows a client the locks of its own namespace alone. Connect with namespace '" + namespace
                        + "' to see others.");
    }

    /**
     * Tells what the engine is and what locks promise on it, as it is set up now. For people: no credentials, and no more
     * sentences than one reads.
     *
     * @return what the backend knows; an engine that answers but does not tell its version is described without
     */
    default CompletionStage<EngineInfo> describe() {
        return CompletableFuture.completedFuture(new EngineInfo("unknown", "", Optional.empty(), List.of(), List.of()));
    }

    /**
     * Tells where the engine is, for messages to people: hosts and ports, never credentials.
     *
     * @return the addresses; empty if there are none
     */
    default String address() {
        return "";
    }

    /**
     * Disconnects. The core has released and withdrawn everything before, as far as the engine answered; what is left
     * is given up in one step where the engine has one, such as ending the session. Bounded by the request timeout.
     * Grants still out are lost.
     */
    @Override
    void close();

    /**
     * No inline round trip: the call returns at once.
     *
     * @see ClaimRequest#blockAtMost()
     */
    Duration DO_NOT_BLOCK = Duration.ZERO;
}
