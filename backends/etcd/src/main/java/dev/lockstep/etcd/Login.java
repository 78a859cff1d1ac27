package dev.lockstep.etcd;

import dev.lockstep.etcd.proto.Etcd.AuthenticateRequest;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A user's token, fetched when it is first needed and again when a member refuses it. One login at a time, however many
 * requests ask. Safe for use by many threads.
 */
final class Login {
    private final Function<AuthenticateRequest, CompletableFuture<String>> authenticate;
    private final String user;
    private final Supplier<String> password;
    private @Nullable CompletableFuture<String> token; // guarded by this

    Login(
            String user,
            Supplier<String> password,
            Function<AuthenticateRequest, CompletableFuture<String>> authenticate) {
        this.authenticate = authenticate;
        this.user = user;
        this.password = password;
    }

    /** The token; empty where the cluster has authentication switched off. */
    CompletableFuture<String> token() {
        CompletableFuture<String> fresh;
        synchronized (this) {
            CompletableFuture<String> known = token;
            if (known != null && !known.isCompletedExceptionally()) {
                return known;
            }
            fresh = new CompletableFuture<>();
            token = fresh;
        }
        // Without the lock, since a request can fail at once, and with it others that take locks of their own.
        credentials().thenCompose(authenticate).whenComplete((answer, failure) -> {
            if (failure == null) {
                fresh.complete(answer);
            } else {
                fresh.completeExceptionally(failure);
            }
        });
        return fresh;
    }

    /** With the password as it is now. */
    private CompletableFuture<AuthenticateRequest> credentials() {
        try {
            return CompletableFuture.completedFuture(AuthenticateRequest.newBuilder()
                    .setName(user)
                    .setPassword(password.get())
                    .build());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** A token was refused; the next request logs in again, unless another has done so meanwhile. */
    synchronized void refused(String stale) {
        CompletableFuture<String> known = token;
        if (known != null && known.isDone() && !known.isCompletedExceptionally() && stale.equals(known.join())) {
            token = null;
        }
    }

    /** Forgets the token, whatever it is. */
    synchronized void forget() {
        if (token != null && token.isDone()) {
            token = null;
        }
    }
}
