package dev.lockstep.spi;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockConfigurationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One engine, for one client. Turns claims of clients into grants, at most one exclusive grant of a name at a time.
 *
 * <p>Clauses, each a test of the contract test:
 *
 * <ul>
 *   <li><b>No call waits.</b> A call returns at once, except that one with a positive {@code blockAtMost} may do its
 *       one round trip in the caller's thread, for that long at most. Everything else happens through the returned
 *       stage.
 *   <li><b>A claim id makes a retried request idempotent.</b> The backend retries, reconnects, and queues again after a
 *       new session; the core handles deadlines.
 *   <li><b>An exception means unknown.</b> The core then starts the withdrawal and reports.
 *   <li><b>Validity</b> counts from the {@link Scheduler#nanoTime()} read before the request that won or renewed the
 *       grant was sent, less a drift margin. This clock counts suspensions of the machine; a backend reads no other.
 *   <li><b>A wake-up is a hint</b> and may never come: every wait has a floor and a ceiling. {@link
 *       GrantListener#wanted} is repeated by waiters' refreshes and by renewals, so that a lost push has no lasting
 *       effect.
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
     * The capabilities of this engine.
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
     * Watches the holders of a lock, as listeners of an election need it. The notification is a hint that may be late,
     * superfluous or missing: the core also polls from time to time. A watch survives lost connections and sessions.
     *
     * @param name the lock's name
     * @param changed called soon after the holders of the lock may have changed, on any thread; short, and does not block
     * @return ends the watch; {@link Watch#NONE} if the engine cannot push that
     */
    default Watch watch(String name, Runnable changed) {
        return Watch.NONE;
    }

    /** A watch that can be ended. Safe for use by many threads. */
    @FunctionalInterface
    interface Watch extends AutoCloseable {
        /** Watches nothing. */
        Watch NONE = () -> {};

        /** Ends it, without waiting. A call that has already begun may still arrive. */
        @Override
        void close();
    }

    /**
     * How many locks {@link #submitAll} and {@link #releaseAll} handle with few requests. The core makes no larger
     * batch, and none at all if it is 1.
     *
     * @return 1, unless the engine can take several locks at once; it may change while the backend connects
     */
    default int batchSize() {
        return 1;
    }

    /**
     * Asks for several locks at once, for one call of one thread. Each request is exclusive, is not for a semaphore,
     * does not wait, and has the same {@link ClaimRequest#holder()}, {@link ClaimRequest#sentNanos()} and {@link
     * ClaimRequest#blockAtMost()} as the first. The call may block for as long as one {@link #submit} may.
     *
     * <p>The engine grants locks in the order of the list and stops at the first that is not free; the claims behind it
     * are {@link Outcome.Busy}. It may call a lock busy that {@link #submit} would grant, for example one whose last
     * holder died; the core then submits it alone. A backend that uses several servers may grant locks behind a busy
     * one, too. The core releases those before it waits for the busy one, so that no two callers wait for each other.
     *
     * @param requests what is asked: at most {@link #batchSize()} requests, each for another name
     * @return a claim for each request, in their order; each like one of {@link #submit}. Throws only if nothing was sent
     */
    default List<Claim> submitAll(List<? extends ClaimRequest> requests) {
        List<Claim> claims = new ArrayList<>(requests.size());
        for (ClaimRequest request : requests) {
            try {
                claims.add(submit(request));
            } catch (RuntimeException e) {
                claims.add(new FailedClaim(e));
            }
        }
        return claims;
    }

    /**
     * Releases several grants of this backend at once. Each is released as by {@link Grant#release}; this is called
     * instead of it. The call may block for as long as one release may.
     *
     * @param grants what is released: at most {@link #batchSize()} grants
     * @param blockAtMost how long the call may block for its round trip
     * @return the answer for each grant, in their order
     */
    default List<CompletionStage<Boolean>> releaseAll(List<? extends Grant> grants, Duration blockAtMost) {
        List<CompletionStage<Boolean>> answers = new ArrayList<>(grants.size());
        for (Grant grant : grants) {
            answers.add(grant.release(blockAtMost));
        }
        return answers;
    }

    /**
     * When the engine last answered anything.
     *
     * @return the {@link Scheduler#nanoTime()} at which the last answered request was sent
     */
    long lastContactNanos();

    /**
     * Checks whether the engine responds. An engine that answers but could not store a claim, such as a replica, counts
     * as not responding.
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
     * Lets operators inspect and release the locks of another namespace.
     *
     * @param namespace the namespace
     * @return its locks, over this backend's connections
     * @throws LockConfigurationException if the engine cannot list its namespaces either
     */
    default AdminBackend admin(String namespace) {
        throw new LockConfigurationException(
                null,
                "This engine shows only the locks of the client's own namespace. Connect with namespace '" + namespace
                        + "' to see its locks.");
    }

    /**
     * Describes the engine and what its locks guarantee, as it is set up now. For people to read: no credentials, and
     * only a few sentences.
     *
     * @return what the backend knows; without a version if the engine answers but does not report one
     */
    default CompletionStage<EngineInfo> describe() {
        return CompletableFuture.completedFuture(EngineInfo.of("unknown", ""));
    }

    /**
     * Returns where the engine is, for messages to people: hosts and ports, never credentials.
     *
     * @return the addresses; empty if there are none
     */
    default String address() {
        return "";
    }

    /**
     * Disconnects. The core has released and withdrawn everything before, as far as the engine answered; the rest is
     * given up in one step if the engine has one, such as ending the session. Bounded by the request timeout. Grants
     * that are still held are lost.
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
