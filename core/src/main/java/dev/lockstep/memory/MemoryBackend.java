package dev.lockstep.memory;

/** The engine inside the JVM. */
public final class MemoryBackend {
    private MemoryBackend() {}
}
