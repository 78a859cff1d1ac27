package dev.lockstep.kotlin

import dev.lockstep.servers.RedisServer
import dev.lockstep.test.TestEngine
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll

class WithLockRedisTest : WithLockContract() {
    override fun engine(): TestEngine = TestEngine.of("redis://localhost:${server.port()}")

    companion object {
        private lateinit var server: RedisServer

        @JvmStatic
        @BeforeAll
        fun start() {
            server = RedisServer.builder().start()
        }

        @JvmStatic
        @AfterAll
        fun stop() {
            server.close()
        }
    }
}
