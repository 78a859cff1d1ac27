package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.temp.TempDirs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServerProcessTest {
    /** A server that only waits, so that its process can be looked at; with a child, as PostgreSQL has. */
    private static final class Sleeper extends ServerProcess {
        private final String script;

        Sleeper(String script) {
            this(script, Duration.ofSeconds(30));
        }

        Sleeper(String script, Duration patience) {
            super("sleeper", FreePorts.next(), patience);
            this.script = script;
        }

        @Override
        Launch launch() {
            return new Launch(List.of("sh", "-c", script), Map.of(), false);
        }

        @Override
        boolean isReady() throws IOException {
            return Files.readString(directory().resolve("sleeper.log")).contains("ready");
        }
    }

    private static final String WITH_CHILD = "sleep 1000 & echo $! >child; echo ready; wait";

    @Test
    void killedServerIsGoneWithItsChildren() throws IOException {
        try (Sleeper server = ServerProcess.started(new Sleeper(WITH_CHILD))) {
            long pid = server.pid();
            long child = childOf(server);
            assertThat(isRunning(child)).isTrue();
            server.kill();
            assertThat(server.isAlive()).isFalse();
            assertThat(isRunning(pid)).isFalse();
            await().atMost(Duration.ofSeconds(20)).until(() -> !isRunning(child));
            assertThatThrownBy(server::pid).isInstanceOf(ServerException.class).hasMessageContaining("does not run");
        }
    }

    @Test
    void pauseStopsTheServerAndItsChildrenAndResumeContinuesThem() throws IOException {
        try (Sleeper server = ServerProcess.started(new Sleeper(WITH_CHILD))) {
            server.pause();
            assertThat(List.of(state(server.pid()), state(childOf(server)))).containsOnly('T');
            server.resume();
            long child = childOf(server);
            await().atMost(Duration.ofSeconds(20)).until(() -> state(server.pid()) != 'T' && state(child) != 'T');
            server.pause();
            server.stop();
            assertThat(server.isAlive()).isFalse();
            await().atMost(Duration.ofSeconds(20)).until(() -> !isRunning(child));
        }
    }

    @Test
    void restartedServerHasANewPidAndTheSamePortAndFolder() {
        try (Sleeper server = ServerProcess.started(new Sleeper("echo ready; exec sleep 1000"))) {
            long pid = server.pid();
            int port = server.port();
            Path directory = server.directory();
            server.restart();
            assertThat(server.pid()).isNotEqualTo(pid);
            assertThat(server.port()).isEqualTo(port);
            assertThat(server.directory()).isEqualTo(directory).isDirectory();
        }
    }

    @Test
    void serverThatEndsAtOnceIsReportedWithItsLog() {
        Sleeper server = new Sleeper("echo no such luck; exit 3");
        assertThatThrownBy(() -> ServerProcess.started(server))
                .isInstanceOf(ServerException.class)
                .hasMessageContaining("exit code 3")
                .hasMessageContaining("no such luck");
        assertThat(server.directory()).doesNotExist();
    }

    @Test
    void serverThatIsNeverReadyIsReportedWithItsLogAndKilled() {
        Sleeper server = new Sleeper("echo thinking; exec sleep 1000", Duration.ofSeconds(2));
        assertThatThrownBy(() -> ServerProcess.started(server))
                .isInstanceOf(ServerException.class)
                .hasMessageContaining("not ready within PT2S")
                .hasMessageContaining("thinking");
        assertThat(server.isAlive()).isFalse();
    }

    @Test
    void programThatDoesNotExistIsReported() {
        assertThatThrownBy(() -> ServerProcess.started(new Sleeper("exec no-such-program")))
                .hasMessageContaining("exit code 127")
                .hasMessageContaining("no-such-program");
    }

    @Test
    void serverOutlivesTheThreadThatStartedIt() throws InterruptedException {
        try (Sleeper server = new Sleeper("echo ready; exec sleep 1000")) {
            Thread starter = new Thread(server::start);
            starter.start();
            starter.join();
            await().during(Duration.ofMillis(200)).until(server::isAlive);
        }
    }

    @Test
    void closedServerLeavesNoFolderAndNoProcess() {
        Sleeper server = ServerProcess.started(new Sleeper("echo ready; exec sleep 1000"));
        long pid = server.pid();
        server.close();
        assertThat(server.directory()).doesNotExist();
        assertThat(isRunning(pid)).isFalse();
        server.close();
    }

    @Test
    void interruptedThreadCanCloseItsServers() {
        Sleeper server = ServerProcess.started(new Sleeper(WITH_CHILD));
        long pid = server.pid();
        Thread.currentThread().interrupt();
        server.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(isRunning(pid)).isFalse();
        assertThat(server.directory()).doesNotExist();
    }

    @Test
    void killedParentLeavesNoServerBehind() throws Exception {
        Process parent = startParent();
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8))) {
            String[] said = String.valueOf(out.readLine()).split(" ", -1);
            List<Long> pids = List.of(Long.valueOf(said[0]), Long.valueOf(said[1]), Long.valueOf(said[2]));
            assertThat(pids).allMatch(ServerProcessTest::isRunning);
            parent.destroyForcibly().waitFor();
            await().atMost(Duration.ofSeconds(20)).until(() -> pids.stream().noneMatch(ServerProcessTest::isRunning));

            Path folder = Path.of(said[3]);
            assertThat(folder).isDirectory();
            TempDirs.sweep(); // as the next JVM does when it starts
            assertThat(folder).doesNotExist();
        } finally {
            parent.destroyForcibly();
        }
    }

    @Test
    void otherJvmLeavesTheFoldersOfALivingOneAlone() throws Exception {
        try (Sleeper server = ServerProcess.started(new Sleeper("echo ready; exec sleep 1000"))) {
            TempDirs.sweep(); // must not lose the lock on our own folder
            Process other = startParent();
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8))) {
                assertThat(out.readLine()).isNotBlank(); // it has started servers, and so has cleaned up
                assertThat(server.directory()).isDirectory();
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
        TempDirs.sweep();
    }

    private static Process startParent() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Parent.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** The JVM that is killed: one server is running, another is paused, its child included. */
    static final class Parent {
        public static void main(String[] args) throws Exception {
            Sleeper running = ServerProcess.started(new Sleeper("echo ready; exec sleep 1000"));
            Sleeper paused = ServerProcess.started(new Sleeper(WITH_CHILD));
            paused.pause();
            System.out.println(running.pid() + " " + paused.pid() + " " + childOf(paused) + " " + running.directory());
            Thread.currentThread().join();
        }
    }

    static long childOf(Sleeper server) throws IOException {
        return Long.parseLong(
                Files.readString(server.directory().resolve("child")).strip());
    }

    /** Zombies that nobody has reaped yet do not count. */
    static boolean isRunning(long pid) {
        try {
            return state(pid) != 'Z';
        } catch (IOException e) {
            return false;
        }
    }

    private static char state(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }
}
