package dev.lockstep.boot.kotlin

import dev.lockstep.Lease
import dev.lockstep.LockClient
import dev.lockstep.annotation.Locked
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import org.springframework.boot.SpringApplication
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.context.annotation.Bean

/** A service whose functions suspend under a lock. A test compiles it with the Kotlin of each Spring Boot. */
@SpringBootApplication(proxyBeanMethods = false)
open class KotlinService {
    @Bean
    open fun shop(locks: LockClient): Shop = Shop(locks)
}

/** Ships orders. */
open class Shop(private val locks: LockClient) {
    private val running = AtomicInteger()
    private val most = AtomicInteger()

    @Locked(name = "order", key = ["#id"], waitAtMost = "1m")
    open suspend fun ship(id: String, lease: Lease?): String {
        most.accumulateAndGet(running.incrementAndGet(), Math::max)
        delay(20)
        running.decrementAndGet()
        return id + held(id) + lease?.isValid
    }

    @Locked(name = "order", key = ["#id"], onBusy = Locked.OnBusy.SKIP)
    open suspend fun skip(id: String): String? {
        delay(1)
        return "ran"
    }

    @Locked(name = "order", key = ["#id"])
    open fun parcels(id: String): Flow<String> = flow {
        repeat(2) {
            delay(1)
            emit("$it" + held(id))
        }
    }

    private fun held(id: String): String = if (locks.inspect("order:$id").isFree) " free " else " held "

    open fun mostAtOnce(): Int = most.get()
}

/** Starts the service, reports what its functions return, and ends. */
fun main(arguments: Array<String>) {
    SpringApplication.run(KotlinService::class.java, *arguments).use { context ->
        val shop = context.getBean(Shop::class.java)
        val locks = context.getBean(LockClient::class.java)
        runBlocking(Dispatchers.Default) {
            val shipped = (1..10).map { async { shop.ship("42", null) } }.awaitAll()
            val lease = locks.lock("order:42").acquireAsync().join()
            val busy = shop.skip("42")
            lease.closeAsync().join()
            println(
                "KOTLIN ${KotlinVersion.CURRENT}: ${shipped.distinct()}, at most ${shop.mostAtOnce()} at once; " +
                    "$busy, then ${shop.skip("42")}; ${shop.parcels("42").toList()}; " +
                    "free: ${locks.inspect("order:42").isFree}"
            )
        }
    }
}
