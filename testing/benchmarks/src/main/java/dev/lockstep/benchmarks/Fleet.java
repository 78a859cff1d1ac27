package dev.lockstep.benchmarks;

import dev.lockstep.spi.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A discrete-event simulation of clients that each hold one lock, and of a server that serves one request after another.
 * The same seed gives the same result.
 */
final class Fleet {
    /*
     * Overview. The clients acquire their locks at random times within `startMillis`, and from then on renew them as
     * Renewals says. After a ttl, everything is counted for a ttl: the steady state. Then the server does nothing for ten
     * seconds, as a process that is stopped, and continues with what has arrived meanwhile.
     *
     * The server takes requests in the order in which they arrive, and each for the same time. So the time of an answer is
     * known when a request arrives, and the server needs no events of its own. Requests that nobody waits for any more are
     * served like the others. The network takes no time.
     */
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long TTL = millis(Renewals.TTL_MILLIS);
    private static final long TIMEOUT = millis(Renewals.TIMEOUT_MILLIS);
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));

    static final long STEADY = TTL;
    static final long OUTAGE = 2 * TTL;
    static final long OVER = OUTAGE + 10 * SECOND;
    static final long END = OVER + 40 * SECOND;

    private final Renewals renewals;
    private final long serviceNanos;
    private final Random random;
    private final List<Client> clients = new ArrayList<>();
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final int[] served = new int[(int) (END / SECOND) + 1];
    private long freeNanos;
    private long eventsMade;
    private long askedInSteady;
    private long longestSteady;
    private long longestAfter;
    private int lost;

    Fleet(Renewals renewals, int size, double serviceMicros, int startMillis, long seed) {
        this.renewals = renewals;
        this.serviceNanos = Math.round(serviceMicros * 1_000);
        this.random = new Random(seed);
        for (int i = 0; i < size; i++) {
            long start = (long) (random.nextDouble() * millis(startMillis));
            Client client = new Client(start);
            clients.add(client);
            at(start + millis(renewals.periodMillis), client, Kind.TICK, 0);
            if (renewals.pingMillis > 0) {
                at(start + millis(renewals.pingMillis), client, Kind.PING, 0);
            }
        }
    }

    /**
     * What happened.
     *
     * @param perSecond requests that the server served per second in the steady state
     * @param busiest the most in one of these seconds
     * @param core the share of one core that the requests of the steady state need; above 1, one core is not enough
     * @param delayMillis the longest time from when a renewal was due until it was done, in the steady state
     * @param outagePerSecond requests per second in the outage and the five seconds after it
     * @param afterwards requests in the five seconds after the outage
     * @param laterPerSecond requests per second in the ten seconds after those
     * @param outageDelayMillis the longest time from when a renewal was due until it was done, from the outage on
     * @param lost holds that were lost
     */
    record Outcome(
            double perSecond,
            int busiest,
            double core,
            double delayMillis,
            double outagePerSecond,
            int afterwards,
            double laterPerSecond,
            double outageDelayMillis,
            int lost) {}

    /** The most requests in a second of the steady state; plays no more than that. */
    int busiestSecond() {
        play(OUTAGE);
        return busiest();
    }

    Outcome run() {
        play(END);
        clients.stream()
                .filter(client -> !client.lost && client.validUntil < END)
                .forEach(client -> lost++);
        return new Outcome(
                served(STEADY, OUTAGE) / 30.0,
                busiest(),
                askedInSteady * serviceNanos / (double) (OUTAGE - STEADY),
                longestSteady / 1e6,
                served(OUTAGE, OVER + 5 * SECOND) / 15.0,
                served(OVER, OVER + 5 * SECOND),
                served(OVER + 5 * SECOND, OVER + 15 * SECOND) / 10.0,
                longestAfter / 1e6,
                lost);
    }

    private void play(long end) {
        for (Event event = events.poll(); event != null && event.at < end; event = events.poll()) {
            handle(event);
        }
    }

    private int busiest() {
        return Arrays.stream(served, second(STEADY), second(OUTAGE)).max().orElseThrow();
    }

    private int served(long from, long to) {
        return Arrays.stream(served, second(from), second(to)).sum();
    }

    private static int second(long nanos) {
        return (int) (nanos / SECOND);
    }

    private static long millis(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    // ---------------------------------------------------------------- events

    private enum Kind {
        TICK,
        ANSWER,
        TIMEOUT,
        RETRY,
        SILENT,
        PING,
        CONNECTED
    }

    /** Something that will happen to a client, if the number is still that of its request or connection. */
    private record Event(long at, long order, Client client, Kind kind, int number) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(at, other.at);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private void at(long nanos, Client client, Kind kind, int number) {
        events.add(new Event(nanos, eventsMade++, client, kind, number));
    }

    private void handle(Event event) {
        Client client = event.client;
        if (client.lost) {
            return;
        }
        switch (event.kind) {
            case TICK -> client.tick(event.at);
            case ANSWER -> client.answered(event.at, event.number);
            case TIMEOUT -> client.timedOut(event.at, event.number);
            case RETRY -> client.send(event.at);
            case PING -> client.ping(event.at);
            case SILENT -> client.leave(event.at, event.number);
            case CONNECTED -> client.connected(event.at);
        }
    }

    /** A request arrives; when it is done. */
    private long serve(long now) {
        if (now >= STEADY && now < OUTAGE) {
            askedInSteady++;
        }
        long begin = begin(now);
        freeNanos = begin + serviceNanos;
        if (begin < END) {
            served[second(begin)]++;
        }
        return freeNanos;
    }

    /** When the server has time for what arrives now. */
    private long begin(long now) {
        long begin = Math.max(now, freeNanos);
        return begin >= OUTAGE && begin < OVER ? OVER : begin;
    }

    // ---------------------------------------------------------------- clients

    private final class Client {
        private final long[] sentBefore; // the times of the last renewals, in a ring
        private int renewed;
        private long validUntil;
        private boolean lost;
        private boolean renewing;
        private long due;
        private long sent;
        private int failures;
        private int step; // of the renewal that is under way
        private int request; // the number of the one whose answer is awaited
        private int connection;
        private boolean connecting;
        private long connectingSince;
        private int unsent; // while connecting
        private long pongAt; // of the connection for messages

        Client(long start) {
            sentBefore = new long[renewals.confirmedBy];
            Arrays.fill(sentBefore, start);
            validUntil = deadline(start);
        }

        private static long deadline(long sent) {
            return sent + TTL - TTL / 100 - millis(2); // as Renewer.deadline
        }

        void tick(long now) {
            at(now + millis(renewals.periodMillis), this, Kind.TICK, 0);
            if (!renewing) {
                renewing = true;
                due = now;
                failures = 0;
                send(now);
            }
        }

        void send(long now) {
            sent = now;
            step = 0;
            if (connecting) {
                unsent++;
                at(now + TIMEOUT, this, Kind.TIMEOUT, ++request);
            } else {
                request(now, ++request, now + TIMEOUT);
            }
        }

        private void request(long now, int number, long limit) {
            for (int i = 0; step == 0 && i < renewals.beside; i++) {
                serve(now);
            }
            long done = serve(now);
            if (done <= limit) {
                at(done, this, Kind.ANSWER, number);
            } else {
                at(limit, this, Kind.TIMEOUT, number);
            }
            if (done > now + millis(renewals.silentMillis)) {
                at(now + millis(renewals.silentMillis), this, Kind.SILENT, connection);
            }
        }

        void answered(long now, int number) {
            if (number != request || !renewing) {
                return;
            }
            if (now > validUntil) {
                lose();
                return;
            }
            step++;
            if (step < renewals.requests) {
                request(now, ++request, now + TIMEOUT);
                return;
            }
            renewing = false;
            failures = 0;
            renewed(now);
        }

        private void renewed(long now) {
            long counted = sent;
            if (renewals.confirmedBy > 0) {
                int place = renewed++ % renewals.confirmedBy;
                counted = sentBefore[place];
                sentBefore[place] = sent;
            }
            validUntil = Math.max(validUntil, deadline(counted));
            if (due >= STEADY && now < OUTAGE) {
                longestSteady = Math.max(longestSteady, now - due);
            } else if (now >= OUTAGE) {
                longestAfter = Math.max(longestAfter, now - due);
            }
        }

        private void lose() {
            lost = true;
            Fleet.this.lost++;
        }

        void timedOut(long now, int number) {
            if (number == request && renewing) {
                request++; // a later answer is nobody's
                failures++;
                at(now + BACKOFF.delay(failures, random).toNanos(), this, Kind.RETRY, 0);
            }
        }

        /** A ping, or, if the last one was not answered, a new subscription. */
        void ping(long now) {
            long done = serve(now);
            pongAt = pongAt <= now ? done : now;
            at(now + millis(renewals.pingMillis), this, Kind.PING, 0);
        }

        /** The server has been silent for too long. */
        void leave(long now, int number) {
            if (number != connection || connecting) {
                return;
            }
            connection++;
            if (!renewals.handshake) {
                return;
            }
            connecting = true;
            connectingSince = now;
            at(begin(now), this, Kind.CONNECTED, 0);
            if (renewals.sendsLate) {
                timedOut(now, request); // what was sent on the old connection has failed
            }
        }

        void connected(long now) {
            connecting = false;
            for (int i = 0; i < renewals.again; i++) {
                serve(now);
            }
            if (renewals.confirmedBy > 0) {
                validUntil = Math.max(validUntil, deadline(connectingSince)); // as Heartbeat.connected
            }
            boolean awaited = unsent > 0 && renewing && now < sent + TIMEOUT;
            int late = renewals.sendsLate ? unsent - (awaited ? 1 : 0) : 0;
            for (int i = 0; i < late; i++) {
                serve(now);
            }
            unsent = 0;
            if (awaited) {
                request(now, ++request, sent + TIMEOUT);
            }
        }
    }
}
