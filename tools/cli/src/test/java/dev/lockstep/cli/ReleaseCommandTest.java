package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.cli.MainTest.Run;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A release by force shows who holds the lock, asks, and takes it from no other. */
class ReleaseCommandTest {
    private final String url = "memory:cli-" + UUID.randomUUID();

    /** Runs the command with a user at the terminal, and does something before the answer is typed. */
    private Run answerYes(Callable<?> before, String... args) {
        InputStream answer = new InputStream() {
            private final InputStream typed = new ByteArrayInputStream("y\n".getBytes(Charset.defaultCharset()));
            private boolean asked;

            @Override
            public int read() throws IOException {
                if (!asked) {
                    asked = true;
                    try {
                        before.call();
                    } catch (Exception e) {
                        throw new IOException(e);
                    }
                }
                return typed.read();
            }
        };
        InputStream usual = System.in;
        System.setIn(answer);
        System.setProperty("lockstep.stdin.terminal", "true");
        try {
            return Run.of(args);
        } finally {
            System.setIn(usual);
            System.clearProperty("lockstep.stdin.terminal");
        }
    }

    @Test
    void releasesTheGrantThatItShowed() throws InterruptedException {
        try (LockClient client = LockClient.connect(url)) {
            Lease lease = client.lock("job").acquire();
            Run run = answerYes(() -> lease, "release", "--url", url, "--force", "job");
            assertThat(run.code()).as(run.err()).isZero();
            assertThat(run.out()).contains("held by", "Force-release it?", "released");
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        }
    }

    @Test
    void sparesOneThatCameMeanwhile() throws Exception {
        try (LockClient first = LockClient.connect(url);
                LockClient second =
                        LockClient.builder().url(url).clientName("the second").connect()) {
            Lease seen = first.lock("job").acquire();
            CompletableFuture<Lease> next = new CompletableFuture<>();
            Run run = answerYes(
                    () -> {
                        seen.close();
                        next.complete(second.lock("job").acquire());
                        return next;
                    },
                    "release",
                    "--url",
                    url,
                    "--force",
                    "job");
            assertThat(run.code()).isEqualTo(ExitCodes.BUSY);
            assertThat(run.err()).contains("nothing was released").contains("client the second");
            assertThat(next.join().isValid()).isTrue();
            next.join().close();
        }
    }

    @Test
    void saysIfTheLockIsFreeByNow() throws Exception {
        try (LockClient client = LockClient.connect(url)) {
            Lease seen = client.lock("job").acquire();
            Run run = answerYes(
                    () -> {
                        seen.close();
                        return seen;
                    },
                    "release",
                    "--url",
                    url,
                    "--force",
                    "job");
            assertThat(run.code()).isZero();
            assertThat(run.out()).contains("free already");
        }
    }

    /** A key of the lock was deleted. */
    @Test
    void saysIfTheEngineKnowsNoTokenOfTheHolder() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start());
                LockClient client = LockClient.connect(server.url() + "?queue=off");
                Lease held = client.lock("job").acquire()) {
            server.command("DEL", "lockstep:{lockstep:job}:token");
            Run run = Run.of("release", "--url", server.url() + "?queue=off", "--force", "--yes", "job");
            assertThat(run.code()).isEqualTo(ExitCodes.BUSY);
            assertThat(run.err()).contains("nothing was released", "no token").doesNotContain("changed hands");
            assertThat(held.isValid()).isTrue();
        }
    }
}
