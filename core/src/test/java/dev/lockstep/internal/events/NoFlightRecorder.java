package dev.lockstep.internal.events;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockObserver;

/** Takes a lock in a JVM that has no flight recorder. */
final class NoFlightRecorder {
    private NoFlightRecorder() {}

    public static void main(String[] args) throws Exception {
        if (ModuleLayer.boot().findModule("jdk.jfr").isPresent()) {
            throw new IllegalStateException("This JVM has jdk.jfr.");
        }
        try (LockClient client = LockClient.builder()
                        .url("memory:")
                        .observer(new LockObserver() {})
                        .connect();
                Lease lease = client.lock("order:1").acquire()) {
            System.out.println(lease.isValid() ? "held without jdk.jfr" : "lost");
        }
    }
}
