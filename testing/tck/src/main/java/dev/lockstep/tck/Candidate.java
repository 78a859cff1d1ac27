package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LeaderElection;
import dev.lockstep.LockClient;
import dev.lockstep.Term;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A candidate of a test. Its task leads until it is interrupted, or until the test lets it return; one that is stubborn
 * ignores interrupts.
 */
final class Candidate implements AutoCloseable {
    private final BlockingQueue<Term> terms = new LinkedBlockingQueue<>();
    private final Semaphore mayReturn = new Semaphore(0);
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger interrupts = new AtomicInteger();
    private final boolean stubborn;
    private final LeaderElection election;

    Candidate(LockClient client, String payload) {
        this(client, payload, false);
    }

    Candidate(LockClient client, String payload, boolean stubborn) {
        this.stubborn = stubborn;
        this.election = client.election(ContractGroup.NAME, payload, this::lead);
    }

    private void lead(Term term) {
        assertThat(running.incrementAndGet()).as("tasks of one candidate").isEqualTo(1);
        terms.add(term);
        try {
            boolean done = false;
            while (!done) {
                try {
                    mayReturn.acquire();
                    done = true;
                } catch (InterruptedException e) {
                    interrupts.incrementAndGet();
                    done = !stubborn;
                }
            }
        } finally {
            running.decrementAndGet();
        }
    }

    LeaderElection election() {
        return election;
    }

    /** The next term that its task is given; waits for it. */
    Term nextTerm() throws InterruptedException {
        return nextTerm(Bench.PATIENCE);
    }

    Term nextTerm(Duration patience) throws InterruptedException {
        Term term = terms.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(term).as("the candidate leads").isNotNull();
        return term;
    }

    boolean hasTerm() {
        return !terms.isEmpty();
    }

    void letTaskReturn() {
        mayReturn.release();
    }

    boolean taskRuns() {
        return running.get() > 0;
    }

    int interrupts() {
        return interrupts.get();
    }

    /** Ends the task by its interrupt: one that returns before lets its candidate stand again, for a moment. */
    @Override
    public void close() {
        if (stubborn) {
            letTaskReturn();
        }
        election.close();
    }
}
