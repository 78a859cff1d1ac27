package dev.lockstep.kotlin

import dev.lockstep.LockClient
import dev.lockstep.LockTimeoutException
import kotlin.time.Duration.Companion.seconds

/** The code that the guide shows. */
internal class Samples(private val locks: LockClient, private val shop: Shop) {
    interface Shop {
        suspend fun ship(order: Int, token: Long)

        suspend fun price(article: String): Int

        suspend fun tellBusy(order: Int)
    }

    suspend fun ship() {
        // tag::kotlin-with-lock
        locks.withLock("order:42") { lease ->
            shop.ship(42, lease.token()) // may suspend, and resume on another thread
        }
        // end::kotlin-with-lock
    }

    suspend fun tryToShip() {
        // tag::kotlin-wait
        try {
            locks.withLock("order:42", waitAtMost = 2.seconds) { lease -> shop.ship(42, lease.token()) }
        } catch (busy: LockTimeoutException) {
            shop.tellBusy(42) // certainly held by somebody else
        }
        // end::kotlin-wait
    }

    suspend fun read(): Int {
        // tag::kotlin-read
        val price = locks.readWriteLock("prices").readLock().withLock { shop.price("phone") }
        // end::kotlin-read
        return price
    }

    suspend fun stopWhenLost() {
        // tag::kotlin-loss
        locks.withLock("order:42") { lease ->
            for (parcel in 1..3) {
                lease.ensureValid() // throws LockLostException
                shop.ship(parcel, lease.token())
            }
        }
        // end::kotlin-loss
    }
}
