package dev.lockstep.benchmarks;

/**
 * How long to measure.
 *
 * @param windows how many for each contender and workload
 * @param millis how long each of them is
 * @param compileMillis how long a new process runs with many threads, and as long again as it is measured, before that counts
 * @param holdStepMillis after which time the next window begins in which locks are held
 * @param idleMillis for how long a client rests before each operation of W1, W2, W5 and W9; 0 if it does not
 */
record Plan(int windows, int millis, int compileMillis, int holdStepMillis, int idleMillis) {
    /** Locks are held for three windows, each as long as the time after which all of them are renewed. */
    static final int HOLD_WINDOWS = 3;

    static final int HOLD_MILLIS = 10_000;

    static final Plan FULL = new Plan(5, 1000, 5000, HOLD_MILLIS, 0);

    /** Windows in which locks are held overlap here. */
    static final Plan QUICK = new Plan(3, 500, 1200, HOLD_MILLIS / 4, 0);

    Plan withWindows(int other) {
        return new Plan(other, millis, compileMillis, holdStepMillis, idleMillis);
    }

    Plan withSeconds(double seconds) {
        return new Plan(windows, (int) (seconds * 1000), compileMillis, holdStepMillis, idleMillis);
    }

    Plan withIdle(int idle) {
        return new Plan(windows, millis, compileMillis, holdStepMillis, idle);
    }

    /** The order of a window that counts. */
    String order(Workload workload) {
        return idleMillis == 0 ? workload.order() : workload.idleOrder(idleMillis);
    }

    String text(Workload workload) {
        return length(workload)
                + (idleMillis == 0 ? "" : ", clients idle for " + idleMillis + " ms before each operation");
    }

    private String length(Workload workload) {
        return switch (workload) {
            case W6 -> windows + " times";
            case W7 -> HOLD_WINDOWS + " windows of " + HOLD_MILLIS / 1000.0 + " s";
            default -> windows + " windows of " + millis / 1000.0 + " s";
        };
    }
}
