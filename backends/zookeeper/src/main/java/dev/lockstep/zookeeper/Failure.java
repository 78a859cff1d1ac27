package dev.lockstep.zookeeper;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** The meaning of reply codes. */
final class Failure {
    private Failure() {}

    /** Whether a server answered at all. */
    static boolean isAnswer(Code code) {
        return !isEnd(code)
                && code != Code.CONNECTIONLOSS
                && code != Code.OPERATIONTIMEOUT
                && code != Code.REQUESTTIMEOUT;
    }

    /** Whether the session is over, and with it everything that was made in it. */
    static boolean isEnd(Code code) {
        return code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED;
    }

    /** Whether the same request may succeed later; it may have been carried out now. */
    static boolean mayRetry(Code code) {
        return switch (code) {
            case CONNECTIONLOSS,
                    OPERATIONTIMEOUT,
                    REQUESTTIMEOUT,
                    SESSIONMOVED,
                    SYSTEMERROR,
                    THROTTLEDOP,
                    NEWCONFIGNOQUORUM -> true;
            default -> false;
        };
    }

    /** The failure of a request, as text for people. */
    static LockstepException failure(@Nullable String lockName, String what, String path, String servers, Code code) {
        String about = lockName == null ? "" : "Lock '" + lockName + "': ";
        String tried = about + "cannot " + what + (path.isEmpty() ? "" : " " + path) + " at " + servers + ": ";
        return switch (code) {
            case NOAUTH, INVALIDACL ->
                new LockConfigurationException(
                        lockName,
                        tried + "ZooKeeper denied this client access (" + code
                                + "). Check the credentials and the ACLs of the node and its parents.");
            case NOCHILDRENFOREPHEMERALS ->
                new LockConfigurationException(
                        lockName,
                        tried + "another client holds this lock with queue=off."
                                + " All clients of a lock must use the same kind of queue.");
            case NOTEMPTY ->
                new LockConfigurationException(
                        lockName,
                        tried + "other clients use this lock with its queue."
                                + " All clients of a lock must use the same kind of queue.");
            case QUOTAEXCEEDED ->
                new LockConfigurationException(lockName, tried + "a quota is exceeded. Raise it on the server.");
            case AUTHFAILED ->
                new LockConfigurationException(
                        lockName,
                        tried + "ZooKeeper refuses this client's authentication (" + code
                                + "). Check its credentials or its login context.");
            case SESSIONCLOSEDREQUIRESASLAUTH ->
                new LockConfigurationException(
                        lockName,
                        tried + "ZooKeeper serves only clients that authenticate (" + code
                                + "). Give this one a login context, as sasl=CONTEXT, or what else the server demands.");
            case EPHEMERALONLOCALSESSION ->
                new LockConfigurationException(
                        lockName,
                        tried + "ZooKeeper's sessions are local, and can hold no locks (" + code
                                + "). Set localSessionsUpgradingEnabled=true on the servers.");
            case UNIMPLEMENTED ->
                new LockConfigurationException(
                        lockName,
                        tried + "the server does not know this request (" + code
                                + "). ZooKeeper 3.5 or newer is needed, and 3.6 to list locks.");
            case CONNECTIONLOSS, SESSIONEXPIRED ->
                new LockUnavailableException(
                        lockName, tried + "no answer (" + code + "). Check that the servers are up and have a quorum.");
            default -> new LockUnavailableException(lockName, tried + "ZooKeeper answered " + code + ".");
        };
    }
}
