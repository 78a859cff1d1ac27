package dev.lockstep.redis.internal;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** A request to Redis that failed, and what that means for its sender. */
public final class Failure extends Exception {
    private static final long serialVersionUID = 1L;

    /** Errors that pass by themselves. The request was refused, so it was not carried out. */
    private static final Set<String> PASSING =
            Set.of("LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "BUSY", "MOVED", "ASK", "NOSCRIPT");

    /** The errors after which the server still answers other requests, such as a ping. */
    private static final Set<String> REFUSALS = Set.of("READONLY", "CLUSTERDOWN", "MASTERDOWN");

    /**
     * The start of the error of a server without room for another client; a cluster node's continues differently.
     */
    private static final String TURNED_AWAY = "ERR max number of clients ";

    /** The errors of WAIT on a server that has become a replica. Earlier commands may have been carried out. */
    private static final Pattern DEMOTED = Pattern.compile("UNBLOCKED |ERR WAIT cannot be used with replica");

    /** Errors of a server that cannot write now. A caller that waits would wait for an operator. */
    private static final Set<String> SICK = Set.of("OOM", "MISCONF", "NOREPLICAS");

    private static final Pattern CODE_INSIDE = Pattern.compile(
            "\\b(READONLY|OOM|MISCONF|NOREPLICAS|WRONGTYPE|LOCKSTEP_FORMAT|NOPERM|LOADING|CLUSTERDOWN|MASTERDOWN)\\b");

    /** The error, without a code, that a script gets on a node that serves only reads while its cluster is down. */
    private static final String CLUSTER_DOWN_INSIDE = "while the cluster is down";

    /** The scripts' answer about a lock in a format that is not theirs. */
    private static final String FORMAT = "LOCKSTEP_FORMAT";

    public enum Kind {
        /** It was not carried out; the next try may be. */
        NOT_DONE,
        /** It may have been carried out. */
        UNKNOWN,
        /** No retry can help. */
        FINAL
    }

    private final Kind kind;
    private final String where;

    private Failure(Kind kind, String where, String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.kind = kind;
        this.where = where;
    }

    /** A request that was given up before it was sent. */
    public static Failure notSent(String where, String message, @Nullable Throwable cause) {
        Failure known = cause == null ? null : refusal(where, cause);
        return known != null ? known : new Failure(Kind.NOT_DONE, where, message, cause);
    }

    /** A request for which there was no connection. */
    static Failure notConnected(String where, Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null && !(root instanceof SSLException)) {
            root = root.getCause();
        }
        return notSent(
                where, "no connection: " + (root instanceof SSLException ? "TLS: " : "") + root.getMessage(), cause);
    }

    /** Whether a request ended because there was no answer in time. */
    static boolean isTimeout(Throwable thrown) {
        boolean late = false;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            late |= cause instanceof SocketTimeoutException;
        }
        return late;
    }

    /** A request that was sent, and its failure. */
    public static Failure of(String where, Throwable cause) {
        Failure known = refusal(where, cause);
        return known != null ? known : new Failure(Kind.UNKNOWN, where, "no answer: " + cause.getMessage(), cause);
    }

    private static @Nullable Failure refusal(String where, Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof JedisDataException && !(cause instanceof JedisConnectionException)) {
                String message = String.valueOf(cause.getMessage());
                return new Failure(kindOf(message), where, message, cause);
            }
            // Jedis reports in this way why no node of a cluster accepted it.
            for (Throwable suppressed : cause.getSuppressed()) {
                Failure known = refusal(where, suppressed);
                if (known != null) {
                    return known;
                }
            }
        }
        return null;
    }

    private static Kind kindOf(String message) {
        if (isOfDemoted(message)) {
            return Kind.UNKNOWN;
        }
        boolean passing = PASSING.contains(codeOf(message)) || message.startsWith(TURNED_AWAY);
        return passing ? Kind.NOT_DONE : Kind.FINAL;
    }

    private static boolean isOfDemoted(String message) {
        return DEMOTED.matcher(message).lookingAt();
    }

    /** The word that an error begins with. Before Redis 7, that of an error in a script is somewhere inside. */
    private static String codeOf(String message) {
        String first = message.split(" ", 2)[0];
        if (first.equals("ERR")) {
            if (message.contains(CLUSTER_DOWN_INSIDE)) {
                return "CLUSTERDOWN";
            }
            Matcher inside = CODE_INSIDE.matcher(message);
            return inside.find() ? inside.group() : first;
        }
        return first;
    }

    public Kind kind() {
        return kind;
    }

    /** Whether the same request may still be answered, though perhaps not soon: retried where no caller waits. */
    public boolean mayPass() {
        return kind != Kind.FINAL || SICK.contains(codeOf(message()));
    }

    /** Whether a key has a value that is not of this kind of lock, or of another format. */
    boolean isOfWrongType() {
        String code = codeOf(message());
        return code.equals("WRONGTYPE") || code.equals(FORMAT);
    }

    /** Whether the server is there and answers, but says that it is not for it to do this now. */
    public boolean isRefusal() {
        return isOfDemoted(message()) || kind == Kind.NOT_DONE && REFUSALS.contains(codeOf(message()));
    }

    /** The server answers, but as one that cannot take writes or is not the one to ask, or that hangs up. */
    boolean spoilsConnection() {
        return codeOf(message()).equals("READONLY") || message().startsWith(TURNED_AWAY) || isOfDemoted(message());
    }

    private String message() {
        return String.valueOf(getMessage());
    }

    /** The exception for users. */
    public LockstepException asLockstepException(@Nullable String lockName, String what) {
        String subject = lockName == null ? "The request to " + what : "Lock '" + lockName + "': " + what;
        String code = codeOf(message());
        String text = subject + " failed at Redis " + where + ": " + message();
        if (mayPass()) {
            String advice = SICK.contains(code) ? " Make the server able to write again." : "";
            return new LockUnavailableException(lockName, text + advice, getCause());
        }
        return new LockConfigurationException(lockName, text + advice(code), getCause());
    }

    private static String advice(String code) {
        return switch (code) {
            case "NOAUTH", "WRONGPASS" -> " Check user and password.";
            case "NOPERM" ->
                " The user needs the rights +@all -@admin (or those in docs/engines/redis.md) on ~lockstep:*"
                        + " and &lockstep:*.";
            case FORMAT ->
                " Another version of Lockstep has stored the lock in the format that this message names, and this version"
                        + " supports only format 1. Let all clients of a namespace use versions with the same format"
                        + " (docs/stored-formats.md).";
            case "WRONGTYPE" ->
                " The lock's key has a value that is not of this kind of lock: another program uses it, or"
                        + " a client with another queue option or of another version.";
            default -> "";
        };
    }
}
