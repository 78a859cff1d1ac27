package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
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

    /** As in a version that has renamed a member. */
    @ParameterizedTest
    @MethodSource("versions")
    void aVersionThatLacksAMemberIsNamed(Path jedis) throws Exception {
        for (String member :
                List.of("redis/clients/jedis/Connection socket", "redis/clients/jedis/UnifiedJedis provider")) {
            String[] parts = member.split(" ");
            try (URLClassLoader loader = new URLClassLoader(classPath(jedis), ClassLoader.getPlatformClassLoader()) {
                @Override
                protected Class<?> findClass(String name) throws ClassNotFoundException {
                    if (!name.replace('.', '/').equals(parts[0])) {
                        return super.findClass(name);
                    }
                    byte[] code = without(parts[1], getResourceAsStream(parts[0] + ".class"));
                    return defineClass(name, code, 0, code.length);
                }
            }) {
                call(loader, "isRefused", "redis://127.0.0.1:1", jedis);
                call(loader, "isRefused", "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", jedis);
            }
        }
    }

    /** A class whose member has another name. */
    private static byte[] without(String member, @Nullable InputStream code) {
        try (InputStream in = Objects.requireNonNull(code)) {
            String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            String length = "\1\0" + (char) member.length();
            assertThat(text).contains(length + member);
            return text.replace(length + member, length + "x".repeat(member.length()))
                    .getBytes(StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void works(Path jedis, String url) throws Exception {
        run(jedis, "works", url);
    }

    private static void run(Path jedis, String method, String url) throws Exception {
        try (URLClassLoader loader = new URLClassLoader(classPath(jedis), ClassLoader.getPlatformClassLoader())) {
            call(loader, method, url, jedis);
        }
    }

    private static URL[] classPath(Path jedis) throws MalformedURLException {
        List<URL> classPath = new ArrayList<>();
        classPath.add(url(jedis));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!entry.matches(".*[/\\\\]jedis-[^/\\\\]*\\.jar")) {
                classPath.add(url(Path.of(entry)));
            }
        }
        return classPath.toArray(URL[]::new);
    }

    private static void call(ClassLoader loader, String method, String url, Path jedis) throws Exception {
        loader.loadClass(Inside.class.getName())
                .getMethod(method, String.class, String.class)
                .invoke(null, url, jedis.getFileName().toString());
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

        public static void isRefused(String url, String jar) {
            String version = jar.substring("jedis-".length(), jar.length() - ".jar".length());
            assertThatThrownBy(() -> LockClient.connect(url))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("does not work with this version of Jedis (" + version + ")");
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
