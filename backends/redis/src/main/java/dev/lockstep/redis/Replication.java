package dev.lockstep.redis;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.redis.internal.Route;
import java.time.Duration;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol;

/**
 * How many replicas must have a grant before it counts.
 *
 * @param replicas how many; 0 asks nobody
 * @param patience how long they may take
 */
record Replication(int replicas, Duration patience) {
    /** Waits until enough replicas have what a connection wrote; false if they do not confirm it in time. */
    boolean reached(Connection connection) {
        if (replicas == 0) {
            return true;
        }
        CommandArguments command =
                new CommandArguments(Protocol.Command.WAIT).add(replicas).add(Math.max(1, patience.toMillis()));
        return connection.executeCommand(command) instanceof Long confirmed && confirmed >= replicas;
    }

    /** The exception for a call if too few replicas confirm its grant. */
    static LockUnavailableException failure(String lockName, Route route) {
        return new LockUnavailableException(
                lockName,
                "Lock '" + lockName + "': too few replicas of Redis " + route
                        + " confirmed the grant in time, so the lock is released. Check the replicas, or require fewer.");
    }
}
