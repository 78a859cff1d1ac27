package dev.lockstep.kotlin

import dev.lockstep.test.TestEngine

class WithLockMemoryTest : WithLockContract() {
    override fun engine(): TestEngine = TestEngine.memory()
}
