package dev.lockstep.spring;

import dev.lockstep.LeaderElection;
import dev.lockstep.LockClient;
import dev.lockstep.Term;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * A candidate of an election, as a bean: it stands while the application runs, and publishes {@link LeaderGranted} when it begins
 * to lead and {@link LeaderRevoked} when it leads no longer. For what an election guarantees, see {@link LeaderElection}.
 *
 * <pre>{@code
 * @EventListener
 * void lead(LeaderGranted granted) { … }
 * }</pre>
 *
 * <p>Listeners are called in the thread of the term. One that does the leader's work itself returns when the thread is
 * interrupted: the term ends then. A term ends when it is lost, when the application stops, by {@link #resign()}, or if a
 * listener of {@code LeaderGranted} throws; the candidate then stands again. When the application stops, the next leader is
 * elected after the listeners of {@code LeaderRevoked} have returned, but not later than the client's request timeout.
 *
 * <p>A candidate starts after other beans and stops before them. Safe for use by many threads.
 */
public final class LeaderCandidate implements SmartLifecycle {
    private final LockClient client;
    private final String election;
    private final ApplicationEventPublisher events;
    private String payload = ""; // set before other threads see this

    // Guarded by this.
    private @Nullable LeaderElection candidate;
    private @Nullable CountDownLatch term;

    /**
     * Makes a candidate, which stands when it is started.
     *
     * @param client the source of the election; without a fallback, which could make a second leader
     * @param election the election's name, which is the name of its lock
     * @param events where to publish
     */
    public LeaderCandidate(LockClient client, String election, ApplicationEventPublisher events) {
        this.client = Objects.requireNonNull(client, "client");
        this.election = Objects.requireNonNull(election, "election");
        this.events = Objects.requireNonNull(events, "events");
    }

    /**
     * Sets what others see of this candidate while it leads, such as its address; see {@link LockClient#leader(String)}.
     *
     * @param text at most 100 bytes
     * @return a candidate that has not been started
     */
    public LeaderCandidate withPayload(String text) {
        LeaderCandidate copy = new LeaderCandidate(client, election, events);
        copy.payload = Objects.requireNonNull(text, "text");
        return copy;
    }

    /**
     * Names the election.
     *
     * @return the name
     */
    public String election() {
        return election;
    }

    /**
     * Returns whether this candidate leads now; without a request. After a pause, the answer may be out of date: see {@link
     * Term#token()}.
     *
     * @return true if it leads
     */
    public synchronized boolean isLeader() {
        return candidate != null && candidate.isLeader();
    }

    /**
     * Gives up leadership, and stands again behind those that wait.
     *
     * @return false if it does not lead
     */
    public boolean resign() {
        LeaderElection standing;
        CountDownLatch current;
        synchronized (this) {
            standing = candidate;
            current = term;
        }
        boolean resigned = standing != null && standing.resign();
        end(current);
        return resigned;
    }

    @Override
    public synchronized void start() {
        if (candidate == null) {
            candidate = client.election(election, payload, this::lead);
        }
    }

    /** Returns when the term is over. */
    @Override
    public void stop() {
        LeaderElection standing;
        CountDownLatch current;
        synchronized (this) {
            standing = candidate;
            current = term;
            candidate = null;
        }
        end(current);
        if (standing != null) {
            standing.close();
        }
    }

    private static void end(@Nullable CountDownLatch term) {
        if (term != null) {
            term.countDown();
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return candidate != null;
    }

    /** In the thread of the term, which is interrupted at its end; a listener may have swallowed that. */
    private void lead(Term granted) {
        CountDownLatch end = new CountDownLatch(1);
        synchronized (this) {
            term = end;
        }
        granted.onLost(reason -> end.countDown());
        try {
            events.publishEvent(new LeaderGranted(election, granted));
            end.await();
        } catch (InterruptedException e) {
            // The term ends.
        } finally {
            synchronized (this) {
                term = null;
            }
            Thread.interrupted(); // listeners may wait
            events.publishEvent(new LeaderRevoked(election, granted.token()));
        }
    }
}
