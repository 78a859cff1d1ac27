package dev.lockstep.zookeeper;

import dev.lockstep.EngineInfo;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.common.X509Exception.SSLContextException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Describes the guarantees of locks on ZooKeeper with its current settings. Its protocol does not report the version;
 * the command {@code srvr}, which servers allow by default, does.
 */
final class Description {
    private static final Logger log = LoggerFactory.getLogger(Description.class);
    private static final Pattern VERSION = Pattern.compile("Zookeeper version: ([^,\\s-]+)");
    private static final Pattern MODE = Pattern.compile("Mode: (\\w+)");

    private Description() {}

    /** Describes it; blocks while it asks one server after another, until one answers. */
    static EngineInfo of(ZooKeeperEngine engine, Duration timeout, Duration requestTimeout) {
        String report = report(engine, requestTimeout);
        return EngineInfo.of("ZooKeeper", find(VERSION, report))
                .withGuarantees(guarantees(engine.isQueued(), timeout))
                .withLimits(limits(engine.isQueued(), find(MODE, report).equals("standalone")));
    }

    private static String report(ZooKeeperEngine engine, Duration requestTimeout) {
        int millis = (int)
                Math.max(1, requestTimeout.toMillis() / (2L * engine.servers().size()));
        for (InetSocketAddress server : engine.servers()) {
            try {
                return FourLetterWordMain.send4LetterWord(
                        server.getHostString(), server.getPort(), "srvr", engine.config(), millis);
            } catch (IOException | SSLContextException | RuntimeException e) {
                log.debug("{} does not answer srvr", server, e);
            }
        }
        return "";
    }

    private static String find(Pattern pattern, String report) {
        Matcher matcher = pattern.matcher(report);
        return matcher.find() ? matcher.group(1) : "";
    }

    private static List<String> guarantees(boolean queued, Duration timeout) {
        return List.of(
                "One holder at a time, as long as a majority of the servers keeps what it has confirmed.",
                "A crashed holder's lock is free " + timeout.toMillis() + " ms after its last sign of life, and a tick"
                        + " more at most. A holder learns of a loss before that.",
                queued
                        ? "First come, first served. A release wakes one waiter, or the readers next in line."
                        : "Waiters are woken by a watch.",
                "Tokens rise, over restarts and a change of the leader too. The time of day does not matter.");
    }

    private static List<String> limits(boolean queued, boolean alone) {
        List<String> limits = new ArrayList<>();
        if (alone) {
            limits.add("One server alone: while it is down, nothing is granted, and holds end at their deadlines.");
        }
        limits.add("Servers restored from an older backup can repeat tokens.");
        if (!queued) {
            limits.add(
                    "queue=off: no order, no fair and no shared locks, no semaphores; a release wakes all that wait.");
        }
        return limits;
    }
}
