package dev.lockstep.etcd;

import dev.lockstep.etcd.proto.Etcd.StatusResponse;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/**
 * The history that a cluster keeps. Every write stays until the history is compacted, and etcd refuses all writes once
 * its space is used up. etcd does not report its compaction settings, only which revisions can be read.
 *
 * @param revision the newest revision
 * @param oldest the oldest one that can still be read, or a little less; 1 if all can
 * @param status what the member says of its space
 */
record History(long revision, long oldest, StatusResponse status) {
    /**
     * The bytes that one lock and unlock add, as a test has measured: a claim's key and value, and its deletion mark.
     */
    static final int BYTES_OF_A_PAIR = 500;

    /** Below this many revisions, a missing compaction is not a problem. */
    private static final long SHORT_HISTORY = 10_000;

    /** The precision of the search for the oldest revision, as a fraction of all. */
    private static final int PARTS = 64;

    /** Finds out, in a few reads, one after the other. */
    static CompletableFuture<History> of(Link link, Keys keys, StatusResponse status) {
        long revision = status.getHeader().getRevision();
        return isKept(link, keys, 1)
                .thenCompose(all -> all
                        ? CompletableFuture.completedFuture(1L)
                        : search(link, keys, 1, revision, Math.max(1, revision / PARTS)))
                .thenApply(oldest -> new History(revision, oldest, status));
    }

    /** The oldest revision that is kept, between one that is not and one that is. */
    private static CompletableFuture<Long> search(Link link, Keys keys, long gone, long kept, long within) {
        if (kept - gone <= within) {
            return CompletableFuture.completedFuture(kept);
        }
        long middle = gone + (kept - gone) / 2;
        return isKept(link, keys, middle)
                .thenCompose(
                        is -> is ? search(link, keys, gone, middle, within) : search(link, keys, middle, kept, within));
    }

    private static CompletableFuture<Boolean> isKept(Link link, Keys keys, long revision) {
        return link.call(
                        Rpc.RANGE,
                        Txns.look(Keys.bytes(keys.root())).setRevision(revision).build())
                .thenApply(found -> true)
                .exceptionallyCompose(failure -> Failure.says(failure, "has been compacted")
                        ? CompletableFuture.completedFuture(false)
                        : CompletableFuture.failedFuture(failure));
    }

    /** The sentence for an operator. */
    String sentence() {
        String space = megabytes(status.getDbSize()) + " on disk, " + megabytes(status.getDbSizeInUse()) + " in use, "
                + (status.getDbSizeQuota() > 0 ? megabytes(status.getDbSizeQuota()) : "2 GB unless set otherwise")
                + " allowed";
        String growth = "A lock and its unlock add two revisions, about " + BYTES_OF_A_PAIR + " bytes";
        if (!status.getErrorsList().isEmpty()) {
            return "An alarm is raised (" + String.join(", ", status.getErrorsList()) + "; " + space
                    + "): without space etcd refuses all writes. Compact, defragment, and disarm the alarm.";
        }
        if (oldest > 1) {
            return "The history was compacted: of " + revision + " revisions about " + (revision - oldest + 1)
                    + " are kept (" + space + "). " + growth + ". etcd does not report whether it compacts by itself.";
        }
        return (revision < SHORT_HISTORY ? "Nothing was compacted yet" : "The history was never compacted") + ": all "
                + revision
                + " revisions are kept (" + space + "). " + growth
                + ", and without space etcd refuses all writes: set --auto-compaction-retention.";
    }

    private static String megabytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
    }
}
