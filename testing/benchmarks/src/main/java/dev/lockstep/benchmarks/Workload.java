package dev.lockstep.benchmarks;

import java.util.List;
import java.util.Locale;

/** The work of clients in a window. An operation is a lock acquired and released. */
enum Workload {
    W1(
            "one thread, one name, nobody else",
            Measure.OPS,
            Measure.P50,
            Measure.P99,
            Measure.EACH,
            Measure.CLIENT,
            Measure.SERVER),
    W2("16 threads of one client, a name each", Measure.OPS, Measure.EACH, Measure.CLIENT, Measure.SERVER),
    W3("16 threads of one client on one name", Measure.OPS, Measure.SHARE),
    W4("4 processes of 4 threads on one name", Measure.OPS, Measure.SHARE),
    W5("hand-off between two clients, from the call of release until acquired", Measure.P50, Measure.P99),
    W6(
            "200 threads of one client wait for a lock; from its release until each has had it",
            Measure.MILLIS,
            Measure.REQUESTS),
    W7("10,000 locks held by one client", Measure.RATE, Measure.CPU, Measure.HEAP),
    W8("16 threads of one client on one name, 95 % shared", Measure.OPS, Measure.EACH),
    W9A("W1 over a network with 5 ms each way", Measure.P50, Measure.P99),
    W9B("W5 over a network with 5 ms each way", Measure.P50, Measure.P99),
    P1("one thread, a semaphore of 4 permits, nobody else", Measure.OPS, Measure.P50, Measure.P99, Measure.EACH),
    P2("16 threads of one client on a semaphore of 4 permits", Measure.OPS, Measure.EACH),
    E1(
            "leader election between two clients, from the call that resigns until the other leads",
            Measure.P50,
            Measure.P99),
    MULTI10("10 locks taken at once", Measure.MILLIS, Measure.EACH, Measure.CLIENT, Measure.SERVER),
    MULTI1000("1,000 locks taken at once", Measure.MILLIS, Measure.EACH, Measure.CLIENT, Measure.SERVER),
    MULTI200000("200,000 locks taken at once", Measure.MILLIS, Measure.EACH, Measure.CLIENT, Measure.SERVER);

    final String title;

    /** The measure by which contenders are compared. */
    final Measure figure;

    /** The measure shown beside it. */
    final List<Measure> more;

    Workload(String title, Measure figure, Measure... more) {
        this.title = title;
        this.figure = figure;
        this.more = List.of(more);
    }

    int processes() {
        return this == W4 ? 4 : 1;
    }

    boolean isDelayed() {
        return this == W9A || this == W9B;
    }

    /** The order of a window, without the lock, the URL and the time. */
    String order() {
        return switch (this) {
            case W1, W9A, P1 -> "pairs threads=1 names=own";
            case W2 -> "pairs threads=16 names=own";
            case W3 -> "pairs threads=16 names=one";
            case W4 -> "pairs threads=4 names=one";
            case W8 -> "pairs threads=16 names=one reads=95";
            case P2 -> "pairs threads=16 names=one guarded=0";
            case W5, E1 -> "hand-off settle=10";
            case W9B -> "hand-off settle=60";
            case W6 -> "crowd threads=200 settle=500";
            case W7 -> "hold";
            case MULTI10 -> "many names=10";
            case MULTI1000 -> "many names=1000";
            case MULTI200000 -> "many names=200000";
        };
    }

    /** The same for clients that rest before each operation; its time does not include the rest. */
    String idleOrder(int millis) {
        return switch (this) {
            case W1, W2, W9A -> order() + " idle=" + millis;
            case W5, W9B -> "hand-off settle=" + millis;
            default -> order();
        };
    }

    /** The order of what runs before windows count: as in a window, but as often as possible. */
    String warmUpOrder() {
        return this == W5 ? "hand-off settle=1" : order();
    }

    /** Whether it runs code that no other workload before it has run, and seldom: it needs time until that is compiled. */
    boolean isRare() {
        return this == W5;
    }

    /** W9 names both of its halves. */
    boolean isMeantBy(String text) {
        String word = text.toUpperCase(Locale.ROOT);
        return name().equals(word) || (isDelayed() && word.equals("W9"));
    }
}
