package dev.lockstep.etcd;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import io.grpc.Status;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The meaning of a failed request. */
final class Failure {
    private Failure() {}

    static Status status(Throwable failure) {
        return Status.fromThrowable(unwrap(failure));
    }

    private static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** No member is known to have carried it out, and another try may succeed; it may still take effect. */
    static boolean isUnanswered(Throwable failure) {
        if (unwrap(failure) instanceof LockstepException) {
            return false; // an answer led to it
        }
        return switch (status(failure).getCode()) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, ABORTED, UNKNOWN, INTERNAL -> true;
            case RESOURCE_EXHAUSTED -> says(failure, "too many requests");
            default -> isNotServedHere(failure);
        };
    }

    /**
     * This member does not serve such requests, but others may. Before etcd 3.6, it reports itself as unavailable then.
     */
    static boolean isNotServedHere(Throwable failure) {
        return status(failure).getCode() == Status.Code.FAILED_PRECONDITION
                && (says(failure, "rpc not supported for learner") || says(failure, "not capable"));
    }

    /** The lease has expired or was revoked, and all its keys are gone. */
    static boolean isLeaseGone(Throwable failure) {
        return status(failure).getCode() == Status.Code.NOT_FOUND && says(failure, "lease not found");
    }

    /** The token of a login has expired, or is unknown to a member that was restarted, or from before a change of rights. */
    static boolean isTokenRefused(Throwable failure) {
        return switch (status(failure).getCode()) {
            case UNAUTHENTICATED -> true;
            case INVALID_ARGUMENT ->
                says(failure, "revision of auth store is old") || says(failure, "user name is empty");
            default -> false;
        };
    }

    static boolean says(Throwable failure, String text) {
        String description = status(failure).getDescription();
        return description != null && description.contains(text);
    }

    /** The error for the caller: it says what was tried and what to do, and has no credentials. */
    static LockstepException error(@Nullable String lockName, String what, Object cluster, Throwable failure) {
        if (unwrap(failure) instanceof LockstepException known) {
            return known;
        }
        Status status = status(failure);
        String subject = (lockName == null ? "" : "Lock '" + lockName + "': ") + what + " at " + cluster + " failed: ";
        String reason = reason(status);
        return switch (isUnanswered(failure) ? Status.Code.UNAVAILABLE : status.getCode()) {
            case PERMISSION_DENIED ->
                new LockConfigurationException(
                        lockName,
                        subject + reason + ". Grant the user read and write access to the prefix 'lockstep/'.",
                        failure);
            case UNAUTHENTICATED, INVALID_ARGUMENT, FAILED_PRECONDITION ->
                new LockConfigurationException(
                        lockName, subject + reason + ". Check user, password and certificates.", failure);
            case UNIMPLEMENTED ->
                new LockConfigurationException(lockName, subject + reason + ". etcd 3.4 or newer is needed.", failure);
            case RESOURCE_EXHAUSTED ->
                new LockUnavailableException(
                        lockName,
                        subject + reason + ". Compact and defragment etcd, or raise its quota, and disarm the alarm.",
                        failure);
            default ->
                new LockUnavailableException(
                        lockName,
                        subject + reason + ". Check that a majority of its members runs and can be reached.",
                        failure);
        };
    }

    private static String reason(Status status) {
        String description = status.getDescription();
        Throwable cause = status.getCause();
        String why = description == null ? status.getCode().toString() : status.getCode() + " (" + description + ")";
        return cause == null || cause.getMessage() == null ? why : why + ", " + cause.getMessage();
    }
}
