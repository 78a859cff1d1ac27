package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Locks with the versions of Jedis that Spring Boot brings, each in a class loader of its own: the build puts the jars into
 * {@code target/jedis}. On the profile "full", the whole contract runs on them.
 */
class JedisVersionsTest {
    static List<Path> versions() throws IOException {
        List<Path> jars = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(Path.of("target/jedis"), "jedis-*.jar")) {
            found.forEach(jars::add);
        }
        assertThat(jars).hasSize(3);
        return jars;
    }

    @ParameterizedTest
    @MethodSource("versions")
    void locksOfASingleServerWork(Path jedis) throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start())) {
            works(jedis, "redis://" + server.address());
        }
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("full")
    void locksOfARedlockWork(Path jedis) throws Exception {
        try (Redlocks set = Redlocks.start(3)) {
            run(jedis, "redlock", Redlocks.url(set.servers()));
        }
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("full")
    void locksBySentinelsWork(Path jedis) throws Exception {
        try (RedisSentinels setUp = Servers.require(() -> RedisServer.builder().startSentinels(1, 1))) {
            works(jedis, "redis-sentinel://" + setUp.sentinels().get(0).address() + "/" + RedisSentinels.PRIMARY_NAME);
        }
    }

    @ParameterizedTest
    @MethodSource("versions")
    @Tag("full")
    void locksOfAClusterWork(Path jedis) throws Exception {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0))) {
            works(jedis, "redis-cluster://" + cluster.addresses());
        }
    }

    private static void works(Path jedis, String url) throws Exception {
        run(jedis, "works", url);
    }

    private static void run(Path jedis, String method, String url) throws Exception {
        List<URL> classPath = new ArrayList<>();
        classPath.add(url(jedis));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!entry.matches(".*[/\\\\]jedis-[^/\\\\]*\\.jar")) {
                classPath.add(url(Path.of(entry)));
            }
        }
        try (URLClassLoader loader =
                new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> inside = loader.loadClass(Inside.class.getName());
            inside.getMethod(method, String.class, String.class)
                    .invoke(null, url, jedis.getFileName().toString());
        }
    }

    private static URL url(Path path) throws MalformedURLException {
        return path.toUri().toURL();
    }

    /** Runs in the class loader of one version of Jedis. */
    public static final class Inside {
        private Inside() {}

        public static void works(String url, String jar) throws Exception {
            checkVersion(jar);
            try (LockClient first = LockClient.connect(url);
                    LockClient second = LockClient.connect(url)) {
                Probe.works(first, second);
            }
        }

        public static void redlock(String url, String jar) throws Exception {
            checkVersion(jar);
            try (LockClient first = LockClient.connect(url);
                    LockClient second = LockClient.connect(url)) {
                first.lock("a").lock();
                assertThat(second.lock("a").tryLock()).isFalse();
                first.lock("a").unlock();
                second.lock("a").lock();
                second.lock("a").unlock();
            }
        }

        private static void checkVersion(String jar) {
            assertThat(redis.clients.jedis.Jedis.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toString())
                    .endsWith(jar);
        }
    }
}
