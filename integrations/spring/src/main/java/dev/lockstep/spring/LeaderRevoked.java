package dev.lockstep.spring;

/**
 * An application event: a {@link LeaderCandidate} of this process leads no longer. After a loss, another process may lead already.
 *
 * @param election the election's name
 * @param term the number of the term that has ended
 */
public record LeaderRevoked(String election, long term) {}
