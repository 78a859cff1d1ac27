package dev.lockstep.benchmarks;

/**
 * How a client that holds one lock keeps it, with the default ttl of 30 s and the default request timeout of 5 s. These
 * are the rules of the backends' code, named beside each constant.
 */
enum Renewals {
    /**
     * {@code Renewer}: a script every third of the ttl. A try that gets no answer in time breaks its connection, and the
     * next try uses a new one, which the system accepts while the server is silent. {@code PushChannel}: a ping of the
     * subscription every request timeout; if it was not answered until the next one, the client subscribes again.
     */
    REDIS(Engine.REDIS, 10_000, 1, 0, 0, 5_000, false, false, 0, 5_000, true),

    /**
     * {@code Heartbeat}: a beat every twelfth of the ttl, confirmed by the fifth beat after it. A client leaves a server
     * that is silent for a quarter of the ttl. What it wanted to send meanwhile is sent on the new connection, after
     * the connecting, the watches and one more beat.
     */
    ZOOKEEPER(Engine.ZOOKEEPER, 2_500, 1, 0, 5, 7_500, true, true, 3, 0, true),

    /**
     * {@code SessionRenewal}: a keepalive and then a read, every third of the ttl; beside them a question on the stream of
     * the watches ({@code Watches.probe}). After a try that gets no answer in time, there is a new connection, on which
     * the two watches of a client with one lock are made again, each with a look ({@code Link.giveUp}).
     */
    ETCD(Engine.ETCD, 10_000, 2, 1, 0, 5_000, true, false, 4, 0, true),

    /** {@code Sessions} and {@code Reconciler}: two statements every third of the ttl. */
    POSTGRESQL(Engine.POSTGRESQL, 10_000, 2, 0, 0, 5_000, true, false, 0, 0, false);

    static final int TTL_MILLIS = 30_000;
    static final int TIMEOUT_MILLIS = 5_000;

    final Engine engine;

    /** From one renewal to the next. */
    final int periodMillis;

    /** The requests of one renewal, one after the other. */
    final int requests;

    /** What is sent together with the first of them, without anything that waits for it. */
    final int beside;

    /** How many later renewals must be answered before one counts. */
    final int confirmedBy;

    /** For how long a server may be silent before a client makes a new connection. */
    final int silentMillis;

    /** Whether the server must answer before the new connection can be used. */
    final boolean handshake;

    /** Whether requests that timed out before that are sent all the same. */
    final boolean sendsLate;

    /** What a client sends once on a new connection. */
    final int again;

    /** How often a connection for messages is pinged; 0 if it is not. */
    final int pingMillis;

    /** Whether a test stops a real server, with which the simulated outage can be compared. */
    final boolean outageTested;

    Renewals(
            Engine engine,
            int periodMillis,
            int requests,
            int beside,
            int confirmedBy,
            int silentMillis,
            boolean handshake,
            boolean sendsLate,
            int again,
            int pingMillis,
            boolean outageTested) {
        this.engine = engine;
        this.periodMillis = periodMillis;
        this.requests = requests;
        this.beside = beside;
        this.confirmedBy = confirmedBy;
        this.silentMillis = silentMillis;
        this.handshake = handshake;
        this.sendsLate = sendsLate;
        this.again = again;
        this.pingMillis = pingMillis;
        this.outageTested = outageTested;
    }

    /** The requests of a client per second, while all are answered. */
    double perSecond() {
        return (requests + beside) * 1_000.0 / periodMillis + (pingMillis == 0 ? 0 : 1_000.0 / pingMillis);
    }
}
