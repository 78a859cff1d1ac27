package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

@Timeout(300)
class ServersTest {
    @Nested
    class Require {
        @Test
        void returnsTheServerIfThereIsOne() {
            assertThat(Servers.require(() -> "server", true)).isEqualTo("server");
        }

        @Test
        void missingServerSkipsTheTest() {
            assertThatThrownBy(() -> Servers.require(Require::missing, false))
                    .isInstanceOf(TestAbortedException.class)
                    .hasMessageContaining("nowhere");
        }

        @Test
        void missingServerFailsInContinuousIntegration() {
            assertThatThrownBy(() -> Servers.require(Require::missing, true))
                    .isInstanceOf(ServerUnavailableException.class);
        }

        private static String missing() {
            throw new ServerUnavailableException("it is nowhere");
        }
    }

    @Nested
    class Debian {
        @Test
        void concurrentUsersShareOneUnpackedPackage(@TempDir Path cache) throws Exception {
            ExecutorService users = Executors.newFixedThreadPool(4);
            try {
                Callable<Path> user = () -> DebianPackages.get(List.of("libaio1"), new ServerCache(cache))
                        .root();
                Set<Path> roots = new HashSet<>();
                for (Future<Path> root : users.invokeAll(List.of(user, user, user, user))) {
                    roots.add(Servers.require(() -> unwrap(root)));
                }
                assertThat(roots).hasSize(1);
                Path root = roots.iterator().next();
                assertThat(root.getFileName().toString()).matches("libaio1_[0-9.-]+");
                assertThat(DebianPackages.get(List.of("libaio1"), new ServerCache(cache))
                                .libraryPath())
                        .hasEntrySatisfying(
                                "LD_LIBRARY_PATH", path -> assertThat(path).contains(root.toString()));
                try (Stream<Path> left = Files.list(cache)) {
                    assertThat(left.filter(file -> file.toString().endsWith(".work")))
                            .isEmpty();
                }
            } finally {
                users.shutdownNow();
            }
        }

        private static Path unwrap(Future<Path> root) {
            try {
                return root.get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof ServerUnavailableException unavailable
                        ? unavailable
                        : new IllegalStateException(e);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Test
        void unknownPackageIsUnavailable(@TempDir Path cache) {
            assertThatThrownBy(() -> DebianPackages.get(List.of("no-such-package-at-all"), new ServerCache(cache)))
                    .isInstanceOf(ServerUnavailableException.class)
                    .hasMessageContaining("no-such-package-at-all")
                    .hasMessageContaining("install it");
        }
    }

    @Nested
    class Ports {
        @Test
        void areFreeAndNeverGivenTwice() {
            Set<Integer> ports = new HashSet<>();
            for (int i = 0; i < 200; i++) {
                int port = FreePorts.next();
                assertThat(ports.add(port)).isTrue();
                assertThat(FreePorts.isFree(port)).isTrue();
            }
        }

        @Test
        void areNotGivenToTwoProcesses() throws Exception {
            Process other = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            PortsMain.class.getName())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader theirs = other.inputReader()) {
                Set<String> ports = Set.of(theirs.readLine().split(" "));
                assertThat(ports).hasSize(PortsMain.PORTS);
                for (int i = 0; i < PortsMain.PORTS; i++) {
                    assertThat(ports).doesNotContain(Integer.toString(FreePorts.next()));
                }
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
    }

    /** Another process, which keeps ports until it is killed. */
    static final class PortsMain {
        static final int PORTS = 400; // of ten thousand: two that did not know of each other would share some

        private PortsMain() {}

        public static void main(String[] args) throws Exception {
            System.out.println(IntStream.range(0, PORTS)
                    .mapToObj(i -> Integer.toString(FreePorts.next()))
                    .collect(Collectors.joining(" ")));
            System.in.read();
        }
    }
}
