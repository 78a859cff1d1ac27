package dev.lockstep.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.boot.service.Service;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A service with nothing but Spring Boot's parent, {@code lockstep-bom}, the starter and all engines, on each version of Boot.
 * Maven resolves its class path from this project's poms, so that Boot manages the versions as it does for users.
 */
@Tag("full")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class BootVersionsTest {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final List<String> MODULES = List.of(
            "bom",
            "core",
            "backends/redis",
            "backends/zookeeper",
            "backends/etcd",
            "backends/jdbc",
            "integrations/annotations",
            "integrations/spring",
            "integrations/spring-boot",
            "integrations/spring-boot-starter",
            "testing/servers",
            "testing/tck");
    private static final String[] ENGINES = {
        "lockstep-spring-boot-starter", "lockstep-redis", "lockstep-zookeeper", "lockstep-etcd", "lockstep-jdbc"
    };

    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.0", "4.1.0"})
    void aServiceRunsOnEveryEngine(String boot) throws Exception {
        String classPath = classPath(boot);
        assertThat(classPath).contains("spring-boot-" + boot + ".jar").doesNotContain("jedis-8");
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                PostgresServer postgres =
                        Servers.require(() -> PostgresServer.builder().start());
                ZooKeeperServer zookeeper =
                        Servers.require(() -> ZooKeeperServer.builder().start());
                EtcdServer etcd = Servers.require(() -> EtcdServer.builder().start())) {
            List<String> database = List.of(
                    "--spring.datasource.url=" + postgres.jdbcUrl(),
                    "--spring.datasource.username=" + SqlServer.USER,
                    "--spring.datasource.password=" + SqlServer.PASSWORD,
                    "--spring.data.redis.port=" + redis.port());
            works(classPath, "Redis", database, "--lockstep.url=redis://127.0.0.1:" + redis.port());
            works(classPath, "Redis", database, "--lockstep.jdbc.use-data-source=false");
            works(classPath, "PostgreSQL", database, "--lockstep.jdbc.create-schema=true");
            works(classPath, "ZooKeeper", database, "--lockstep.url=zookeeper://127.0.0.1:" + zookeeper.port());
            works(classPath, "etcd", database, "--lockstep.url=etcd://127.0.0.1:" + etcd.port());
            assertThat(run(classPath, database, "--lockstep.url=redis://127.0.0.1:1"))
                    .contains("APPLICATION FAILED TO START", "The engine of the locks cannot be reached");
        }
    }

    private static void works(String classPath, String product, List<String> common, String... own) throws Exception {
        assertThat(run(classPath, common, own))
                .containsPattern("RESULT 1 stock:phone \\| template \\| (?s).*UP.* \\| 1 \\| .*" + product);
    }

    /** Runs the service in a process of its own, and returns what it prints. */
    private static String run(String classPath, List<String> common, String... own) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath,
                Service.class.getName(),
                "--management.endpoints.jmx.exposure.include=*",
                "--management.endpoints.web.exposure.include=*",
                "--spring.jmx.enabled=true"));
        command.addAll(common);
        command.addAll(List.of(own));
        return process(command, Path.of("target"));
    }

    private static String process(List<String> command, Path folder) throws IOException, InterruptedException {
        File output = File.createTempFile("service", ".log");
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output)
                    .start();
            if (!process.waitFor(3, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError("No end of " + command.get(0));
            }
            return Files.readString(output.toPath(), StandardCharsets.UTF_8);
        } finally {
            Files.delete(output.toPath());
        }
    }

    /** The class path that Maven gives to a service whose parent is Spring Boot's. */
    private static String classPath(String boot) throws IOException, InterruptedException {
        Path folder = Path.of("target/boot-" + boot).toAbsolutePath();
        for (String module : MODULES) {
            copyPom(ROOT.resolve(module), folder.resolve(module));
        }
        Files.createDirectories(folder.resolve("service"));
        Files.writeString(folder.resolve("service/pom.xml"), servicePom(boot));
        String parent = Files.readString(ROOT.resolve("pom.xml"));
        String modules = MODULES.stream()
                .map(module -> "<module>" + module + "</module>")
                .collect(Collectors.joining());
        Files.writeString(
                folder.resolve("pom.xml"),
                parent.replaceFirst(
                        "(?s)<modules>.*?</modules>", "<modules>" + modules + "<module>service</module></modules>"));
        String output = process(
                List.of(
                        "mvn",
                        "-B",
                        "-q",
                        "-Dspotless.check.skip",
                        "-Dprotobuf.skip",
                        "-Dmdep.includeScope=runtime",
                        "-Dmdep.outputFile=classpath.txt",
                        "compile",
                        "dependency:build-classpath"),
                folder);
        Path result = folder.resolve("service/classpath.txt");
        assertThat(result).as(output).exists();
        return Arrays.stream(Files.readString(result).split(File.pathSeparator))
                        .map(entry -> entry.startsWith(folder.toString())
                                ? ROOT.resolve(folder.relativize(Path.of(entry)))
                                        .toString()
                                : entry)
                        .collect(Collectors.joining(File.pathSeparator))
                + File.pathSeparator
                + Path.of("target/test-classes").toAbsolutePath();
    }

    private static void copyPom(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        Files.writeString(to.resolve("pom.xml"), Files.readString(from.resolve("pom.xml")));
    }

    private static String servicePom(String boot) {
        StringBuilder dependencies = new StringBuilder();
        for (String artifact : ENGINES) {
            dependencies.append(dependency("dev.lockstep", artifact));
        }
        for (String artifact :
                List.of("spring-boot-starter-jdbc", "spring-boot-starter-data-redis", "spring-boot-starter-actuator")) {
            dependencies.append(dependency("org.springframework.boot", artifact));
        }
        dependencies.append(dependency("org.postgresql", "postgresql"));
        return """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                  <modelVersion>4.0.0</modelVersion>
                  <parent>
                    <groupId>org.springframework.boot</groupId>
                    <artifactId>spring-boot-starter-parent</artifactId>
                    <version>%s</version>
                    <relativePath/>
                  </parent>
                  <groupId>example</groupId>
                  <artifactId>service</artifactId>
                  <version>1</version>
                  <dependencyManagement>
                    <dependencies>
                      <dependency>
                        <groupId>dev.lockstep</groupId>
                        <artifactId>lockstep-bom</artifactId>
                        <version>0.1.0-SNAPSHOT</version>
                        <type>pom</type>
                        <scope>import</scope>
                      </dependency>
                    </dependencies>
                  </dependencyManagement>
                  <dependencies>%s</dependencies>
                </project>
                """.formatted(boot, dependencies);
    }

    private static String dependency(String group, String artifact) {
        return "<dependency><groupId>" + group + "</groupId><artifactId>" + artifact + "</artifactId></dependency>";
    }
}
