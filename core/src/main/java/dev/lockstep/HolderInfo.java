package dev.lockstep;

import java.time.Instant;

/**
 * Who asked for a lock, for people to read: nothing in Lockstep decides by it.
 *
 * @param client the name of the client, see {@link LockClient.Builder#clientName(String)}
 * @param host the machine it runs on, as it calls itself
 * @param pid its process
 * @param thread the thread that asked first
 * @param since when it asked, by the clock of its machine or of the engine
 * @param sticky whether the lock is sticky: its client may keep it while none of its threads uses it
 */
public record HolderInfo(String client, String host, long pid, String thread, Instant since, boolean sticky) {
    @Override
    public String toString() {
        return "client " + client + " (host " + host + ", pid " + pid + ", thread " + thread
                + (sticky ? ", sticky" : "") + ") since " + since;
    }
}
