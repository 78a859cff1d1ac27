package dev.lockstep.benchmarks;

/**
 * How long to measure.
 *
 * @param windows how many for each contender and workload
 * @param millis how long each of them is
 * @param warmUpMillis how long the window is that does not count
 */
record Plan(int windows, int millis, int warmUpMillis) {
    /** Locks are held for three windows, each as long as the time after which all of them are renewed. */
    static final int HOLD_WINDOWS = 3;

    static final int HOLD_MILLIS = 10_000;

    static final Plan FULL = new Plan(5, 2000, 2500);
    static final Plan QUICK = new Plan(3, 700, 1000);

    Plan withWindows(int other) {
        return new Plan(other, millis, warmUpMillis);
    }

    String text(Workload workload) {
        return switch (workload) {
            case W6 -> windows + " times";
            case W7 -> HOLD_WINDOWS + " windows of " + HOLD_MILLIS / 1000.0 + " s";
            default -> windows + " windows of " + millis / 1000.0 + " s";
        };
    }
}
