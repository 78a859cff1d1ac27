package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Redis 6.2, which Debian no longer has, from a jar. */
final class Redis62 {
    private static final Map<String, String> BINARIES =
            Map.of("amd64", "redis-server-6.2.6-v5-linux-amd64", "aarch64", "redis-server-6.2.7-linux-arm64");

    private Redis62() {}

    /**
     * The server's program, unpacked.
     *
     * @throws ServerUnavailableException if it is not on the class path, or not made for this machine
     */
    static Program program() {
        String binary = BINARIES.getOrDefault(System.getProperty("os.arch"), "none");
        try (InputStream in = Redis62.class.getClassLoader().getResourceAsStream(binary)) {
            if (in == null || !System.getProperty("os.name").equals("Linux")) {
                throw new ServerUnavailableException(
                        "Redis 6.2 needs com.github.codemonstur:embedded-redis on the class"
                                + " path, and runs on Linux on amd64 and arm64 only");
            }
            Path folder = ServerCache.ofUser().get("redis-6.2", (content, work) -> {
                Path server = content.resolve("redis-server");
                Files.copy(in, server);
                if (!server.toFile().setExecutable(true)) {
                    throw new IOException("cannot make " + server + " executable");
                }
                return binary.replaceAll("\\D+(\\d.*?)-linux.*", "$1");
            });
            return new Program(folder.resolve("redis-server"), Map.of());
        } catch (IOException e) {
            throw new ServerException("cannot unpack " + binary, e);
        }
    }
}
