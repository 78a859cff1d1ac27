package dev.lockstep.etcd;

/**
 * When the sessions of a client are renewed: each in its own phase of the period, whenever it was opened, so that all are
 * spread evenly over it. Guarded by its user.
 */
final class Phases {
    /** Multiples of it are spread evenly between the whole numbers, however many there are. */
    private static final double GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

    private final long periodNanos;
    private long originNanos;
    private long opened;

    Phases(long periodNanos) {
        this.periodNanos = Math.max(periodNanos, 1);
    }

    /**
     * How long after its opening a session begins to be renewed in each period: less than one period.
     *
     * @param alone whether there is no other session: then it begins at once, and the next ones are spread from there
     */
    long delay(boolean alone, long nowNanos) {
        if (alone) {
            originNanos = nowNanos;
            opened = 0;
        }
        long phase = (long) (opened++ * GOLDEN_RATIO % 1 * periodNanos);
        return Math.floorMod(originNanos + phase - nowNanos, periodNanos);
    }
}
