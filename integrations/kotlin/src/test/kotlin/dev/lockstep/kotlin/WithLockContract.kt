package dev.lockstep.kotlin

import dev.lockstep.LockClient
import dev.lockstep.LockLostAfterWorkException
import dev.lockstep.LockLostException
import dev.lockstep.LockTimeoutException
import dev.lockstep.LockUnavailableException
import dev.lockstep.test.TestEngine
import java.time.Duration
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.assertThrows

/** The contract of `withLock`, on any engine. */
@Timeout(60)
abstract class WithLockContract {
    abstract fun engine(): TestEngine

    private lateinit var engine: TestEngine
    private lateinit var locks: LockClient
    private lateinit var other: LockClient

    @BeforeEach
    fun connect() {
        engine = engine()
        locks = LockClient.builder().backend(engine).requestTimeout(Duration.ofSeconds(2)).connect()
        other = LockClient.builder().backend(engine.withoutFaults()).connect()
    }

    @AfterEach
    fun close() {
        engine.bringBack()
        locks.close()
        other.close()
    }

    @Test
    fun theBlockHasTheLockAndItsResultIsReturned() = runBlocking<Unit> {
        val token = locks.withLock("order:42") { lease ->
            assertThat(other.lock("order:42").tryLock()).isFalse()
            lease.token()
        }
        assertThat(token).isPositive()
        assertFree("order:42")
    }

    /** A lock that belonged to threads would let all of these in, or would not let them out. */
    @Test
    fun coroutinesOnOneThreadExcludeEachOther() = runBlocking<Unit> {
        val inside = AtomicInteger()
        val most = AtomicInteger()
        List(5) {
            async {
                locks.withLock("order:42") {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max)
                    yield()
                    delay(5)
                    inside.decrementAndGet()
                }
            }
        }.awaitAll()
        assertThat(most).hasValue(1)
        assertFree("order:42")
    }

    @Test
    fun theBlockMayResumeOnOtherThreads() = runBlocking<Unit> {
        val threads = mutableSetOf<Thread>()
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { dispatcher ->
            locks.withLock("order:42") { lease ->
                threads += Thread.currentThread()
                withContext(dispatcher) { threads += Thread.currentThread() }
                withContext(Dispatchers.IO) { lease.ensureValid() }
            }
        }
        assertThat(threads).hasSize(2)
        assertFree("order:42")
    }

    @Test
    fun cancellationWithdrawsAClaimThatWaits() = runBlocking<Unit> {
        other.lock("order:42").acquireAsync().get().use {
            val waiting = launch(Dispatchers.Default) { locks.withLock("order:42") { error("must not run") } }
            await().atMost(Duration.ofSeconds(20)).until { other.inspect("order:42").waiters().size == 1 }
            waiting.cancelAndJoin()
            await().atMost(Duration.ofSeconds(20)).until { other.inspect("order:42").waiters().isEmpty() }
        }
        assertFree("order:42")
    }

    @Test
    fun aTimeoutAroundTheCallWithdrawsToo() = runBlocking<Unit> {
        other.lock("order:42").acquireAsync().get().use {
            assertThrows<CancellationException> { withTimeout(200) { locks.withLock("order:42") {} } }
        }
        assertFree("order:42")
    }

    /** `await()` would drop it: the grant is on its way to a thread that is busy when the coroutine is cancelled. */
    @Test
    fun aGrantThatArrivesAtACancelledCoroutineIsReleased() = runBlocking<Unit> {
        val busy = CountDownLatch(1)
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { dispatcher ->
            engine.delayGrants(Duration.ofMillis(300))
            val call = launch(dispatcher) { locks.withLock("order:42") { error("must not run") } }
            dispatcher.executor.execute { busy.await() } // the thread comes to it when the call waits
            await().atMost(Duration.ofSeconds(20)).until { locks.snapshot().holds().isNotEmpty() }
            call.cancel()
            busy.countDown()
            call.join()
        }
        assertFree("order:42")
    }

    @Test
    fun cancellationInTheBlockReleasesBeforeTheCallEnds() = runBlocking<Unit> {
        val inside = CountDownLatch(1)
        val working = launch(Dispatchers.Default) {
            locks.withLock("order:42") {
                inside.countDown()
                awaitCancellation()
            }
        }
        inside.await()
        working.cancelAndJoin()
        assertThat(other.lock("order:42").tryLock()).isTrue()
    }

    @Test
    fun aBusyLockIsATimeout() = runBlocking<Unit> {
        other.lock("order:42").acquireAsync().get().use {
            val thrown = assertThrows<LockTimeoutException> { locks.withLock("order:42", waitAtMost = 50.milliseconds) {} }
            assertThat(thrown).hasMessageContaining("'order:42'").hasMessageContaining("50ms")
        }
    }

    @Test
    fun whatTheBlockThrowsIsUnchangedAndTheLockIsReleased() = runBlocking<Unit> {
        val failure = IllegalStateException("the block's own")
        val thrown = assertThrows<IllegalStateException> { locks.withLock("order:42") { throw failure } }
        assertThat(thrown).isSameAs(failure)
        assertFree("order:42")
    }

    @Test
    fun aLossIsThrownWithTheResultUnlessTheBlockIsFenced() = runBlocking<Unit> {
        val thrown = assertThrows<LockLostAfterWorkException> {
            locks.withLock<String>("order:42") {
                engine.loseLock("order:42")
                "done"
            }
        }
        assertThat(thrown.result()).isEqualTo("done")
        val result = locks.withLock("order:42", fenced = true) {
            engine.loseLock("order:42")
            "done"
        }
        assertThat(result).isEqualTo("done")
        assertThrows<LockLostException> {
            locks.withLock("order:42") { lease ->
                engine.loseLock("order:42")
                lease.ensureValid()
            }
        }
    }

    /** The result would be that of the inner block, and the caller is about to take it for that of the outer one. */
    @Test
    fun aLossInsideIsThrownWithoutTheResultOfTheInnerBlock() = runBlocking<Unit> {
        val thrown = assertThrows<LockLostException> {
            locks.withLock("order:42") {
                locks.withLock<String>("stock:7") {
                    engine.loseLock("stock:7")
                    "inner"
                }
            }
        }
        assertThat(thrown).isNotInstanceOf(LockLostAfterWorkException::class.java)
        assertThat(thrown.lockName()).isEqualTo("stock:7")
        assertThat(thrown.cause).isInstanceOf(LockLostAfterWorkException::class.java)
        assertFree("order:42")
    }

    @Test
    fun aReleaseThatIsNotConfirmedDoesNotLoseTheResult() = runBlocking<Unit> {
        val result = locks.withLock("order:42") {
            engine.takeAway()
            "sold"
        }
        assertThat(result).isEqualTo("sold")
        engine.bringBack()
        assertFree("order:42")
    }

    @Test
    fun anEngineThatIsAwayIsAnExceptionOfItsOwn() = runBlocking<Unit> {
        engine.takeAway()
        assertThrows<LockUnavailableException> { locks.withLock("order:42", waitAtMost = 3.seconds) {} }
    }

    @Test
    fun readersRunTogether() = runBlocking<Unit> {
        val readers = locks.readWriteLock("prices").readLock()
        readers.withLock {
            locks.readWriteLock("prices").readLock().withLock(waitAtMost = 2.seconds) {
                assertThat(other.lock("prices").tryLock()).isFalse()
            }
        }
        assertFree("prices")
    }

    private suspend fun assertFree(name: String) {
        other.withLock(name, waitAtMost = 5.seconds) {}
    }
}
