package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** A console that a service starts, as the guide shows it. */
class ServedTest {
    private static Console serve(LockClient locks, InetSocketAddress address, String token) throws IOException {
        // tag::console-served
        Console console = Console.builder(locks)
                .namespace("shop")
                .token(token) // needed unless the address is one of loopback
                .start(address);
        // end::console-served
        return console;
    }

    @Test
    void aServiceServesItsLocks() throws IOException {
        try (LockClient locks = LockClient.connect("memory:");
                Console console =
                        serve(locks, new InetSocketAddress("127.0.0.1", 0), "0123456789abcdef0123456789abcdef")) {
            assertThat(console.uri().orElseThrow().getPort()).isPositive();
        }
    }
}
