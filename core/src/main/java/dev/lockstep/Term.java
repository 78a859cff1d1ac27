package dev.lockstep;

/**
 * The time for which a candidate leads, as a lease of the election's lock. Its {@link #token()} is the number of the
 * term: it is higher than that of every earlier term of the election, on any machine. If storage refuses numbers lower
 * than the highest it has seen, a leader that was paused while another one was elected cannot write to it.
 *
 * <p>A term ends when its task returns, by {@link LeaderElection#resign()} or {@link LeaderElection#close()}, or by loss. A
 * task may end it early with {@link #close()} or {@link #closeAsync()}, from any thread; another candidate may then lead
 * while the task still runs, and this one is a candidate again when its task has returned.
 *
 * <p>The number is drawn before the task starts, so {@link #token()} throws nothing. Safe for use by many threads.
 */
public interface Term extends Lease {}
