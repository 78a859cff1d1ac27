package dev.lockstep.kotlin

import dev.lockstep.DistributedLock
import dev.lockstep.Lease
import dev.lockstep.LockClient
import dev.lockstep.LockLostAfterWorkException
import dev.lockstep.LockLostException
import dev.lockstep.LockOptions
import dev.lockstep.LockTimeoutException
import dev.lockstep.ReleaseNotConfirmedException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.future.await
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import org.slf4j.LoggerFactory

private val LOGGER = LoggerFactory.getLogger("dev.lockstep.kotlin")

/**
 * Runs [block] under the lock [name], and releases the lock when the block has returned or thrown.
 *
 * ```kotlin
 * locks.withLock("order:42") { lease -> orders.ship(42, lease.token()) }
 * ```
 *
 * The lock belongs to this call, not to a thread: the block may suspend and resume on any thread and dispatcher, and another coroutine on
 * the same thread does not get the lock. It is not reentrant: a block that asks for its own lock waits for itself. No thread is blocked
 * while the call waits.
 *
 * If the coroutine is cancelled while it waits, the claim is withdrawn. If it is cancelled in the block, the lock is released before this
 * function throws.
 *
 * @param name the lock
 * @param options how it behaves
 * @param waitAtMost how long to wait for the lock; zero does not wait. The time that the block takes does not count, unlike that of
 *   `withTimeout` around the call
 * @param fenced whether every effect of the block is guarded by the token, so that its result is right even if the lock was lost
 * @param block what to do
 * @return what the block returned
 * @throws LockTimeoutException if somebody else held the lock for all of [waitAtMost]
 * @throws dev.lockstep.LockUnavailableException if the engine could not be reached, so that the block did not run
 * @throws LockLostAfterWorkException if the block has returned and the lock was lost meanwhile; it has the result. Not thrown if [fenced]
 */
public suspend fun <T> LockClient.withLock(
    name: String,
    options: LockOptions = LockOptions.defaults(),
    waitAtMost: Duration = Duration.INFINITE,
    fenced: Boolean = false,
    block: suspend (Lease) -> T,
): T = lock(name, options).withLock(waitAtMost, fenced, block)

/**
 * Runs [block] under this lock, such as a read lock or a multi-lock; see [LockClient.withLock].
 *
 * @param waitAtMost how long to wait for the lock; zero does not wait
 * @param fenced whether every effect of the block is guarded by the token
 * @param block what to do
 * @return what the block returned
 */
public suspend fun <T> DistributedLock.withLock(
    waitAtMost: Duration = Duration.INFINITE,
    fenced: Boolean = false,
    block: suspend (Lease) -> T,
): T {
    val lease = acquireWithin(waitAtMost)
    val result =
        try {
            block(lease)
        } catch (failure: Throwable) {
            lease.releaseAfter(failure)
            throw failure.withoutResult()
        }
    lease.releaseAfter(result, fenced)
    return result
}

private suspend fun DistributedLock.acquireWithin(wait: Duration): Lease {
    if (wait.isInfinite()) {
        return acquireAsync().awaitOrUndo { it.closeAsync() }
    }
    return tryAcquireAsync(wait.toJavaDuration())
        .awaitOrUndo { late -> late.ifPresent { it.closeAsync() } }
        .orElseThrow { LockTimeoutException(name(), "Lock '${name()}' was not free within $wait.") }
}

/**
 * Awaits a future; cancelling the coroutine cancels it. Unlike `await()`, a value that arrives when the coroutine has been cancelled
 * already is not dropped but undone.
 */
private suspend fun <T : Any> CompletableFuture<T>.awaitOrUndo(undo: (T) -> Unit): T =
    suspendCancellableCoroutine { waiter ->
        whenComplete { value, failure ->
            if (failure == null) {
                waiter.resume(value) { _, late, _ -> undo(late) }
            } else {
                waiter.resumeWithException((failure as? CompletionException)?.cause ?: failure)
            }
        }
        waiter.invokeOnCancellation { cancel(false) }
    }

private suspend fun Lease.release() {
    withContext(NonCancellable) { closeAsync().await() }
}

/** The exception of the block comes first. */
private suspend fun Lease.releaseAfter(failure: Throwable) {
    try {
        release()
    } catch (second: Exception) {
        failure.addSuppressed(second)
    }
}

/** A `withLock` inside the block may have thrown its own result, which is not that of the block. */
private fun Throwable.withoutResult(): Throwable =
    if (this is LockLostAfterWorkException) {
        LockLostException(lockName(), reason()).also { it.initCause(this) }
    } else {
        this
    }

/** A result is never lost. */
private suspend fun <T> Lease.releaseAfter(result: T, fenced: Boolean) {
    try {
        release()
    } catch (loss: LockLostException) {
        if (!fenced) {
            throw LockLostAfterWorkException(lockName(), loss.reason(), result).apply { initCause(loss) }
        }
    } catch (late: ReleaseNotConfirmedException) {
        LOGGER.warn("{} The block has its result.", late.message)
    }
}
