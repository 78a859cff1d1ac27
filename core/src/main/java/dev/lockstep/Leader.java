package dev.lockstep;

/**
 * Who leads, as the engine sees it. It may be out of date by the time it is read, and a leader that has crashed is shown
 * until the ttl has passed.
 *
 * @param payload what the candidate published, such as its address; may be empty
 * @param term the number of the term, as its {@link Term#token()}
 * @param holder the client, its host and its process
 */
public record Leader(String payload, long term, HolderInfo holder) {}
