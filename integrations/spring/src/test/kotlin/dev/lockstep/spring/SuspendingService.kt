package dev.lockstep.spring

import dev.lockstep.Lease
import dev.lockstep.LockClient
import dev.lockstep.annotation.Locked
import java.io.IOException
import java.util.concurrent.CompletableFuture
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.await
import kotlinx.coroutines.future.future
import kotlinx.coroutines.yield

/** Functions that suspend under a lock. */
open class SuspendingService(private val locks: LockClient) {
    @Locked(name = "order", key = ["#id"], waitAtMost = "5s")
    open suspend fun ship(id: String, gate: CompletableFuture<String>, lease: Lease?): String =
        gate.await() + held(id) + lease?.isValid

    @Locked(name = "order", key = ["#id"], waitAtMost = "1h")
    open suspend fun shipPatiently(id: String): String {
        yield()
        return id
    }

    @Locked(name = "order", key = ["#id"], onBusy = Locked.OnBusy.SKIP)
    open suspend fun skip(id: String): String? {
        yield()
        return "ran"
    }

    @Locked(name = "order", key = ["#id"], waitAtMost = "0s", busyMethod = "instead")
    open suspend fun orElse(id: String): String {
        yield()
        return "ran"
    }

    fun instead(id: String): String = "busy $id"

    @Locked(name = "order", key = ["#id"])
    open suspend fun fails(id: String): String {
        yield()
        throw IOException("of $id")
    }

    @Locked(name = "order", key = ["#id"])
    open fun numbers(id: String): Flow<String> = flow { repeat(2) { emit("$it" + held(id)) } }

    private fun held(id: String): String = if (locks.inspect("order:$id").isFree) " free " else " held "
}

/** Calls from Java. */
object SuspendingCalls {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default) // one failure does not end it

    @JvmStatic
    fun ship(service: SuspendingService, id: String, gate: CompletableFuture<String>): CompletableFuture<String> =
        scope.future { service.ship(id, gate, null) }

    @JvmStatic
    fun shipPatiently(service: SuspendingService, id: String): CompletableFuture<String> =
        scope.future { service.shipPatiently(id) }

    @JvmStatic
    fun skip(service: SuspendingService, id: String): CompletableFuture<String?> = scope.future { service.skip(id) }

    @JvmStatic
    fun orElse(service: SuspendingService, id: String): CompletableFuture<String> = scope.future { service.orElse(id) }

    @JvmStatic
    fun fails(service: SuspendingService, id: String): CompletableFuture<String> = scope.future { service.fails(id) }

    @JvmStatic
    fun numbers(service: SuspendingService, id: String): CompletableFuture<List<String>> =
        scope.future { service.numbers(id).toList() }
}
