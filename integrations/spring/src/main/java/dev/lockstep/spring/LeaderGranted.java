package dev.lockstep.spring;

import dev.lockstep.Term;

/**
 * An application event: a {@link LeaderCandidate} of this process leads from now on.
 *
 * @param election the election's name
 * @param term the term; its token lets storage refuse the writes of a leader that was replaced while it was paused
 */
public record LeaderGranted(String election, Term term) {}
