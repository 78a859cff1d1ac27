package dev.lockstep.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.boot.service.Service;
import dev.lockstep.boot.service.SpringTests;
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
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final List<String> MODULES = List.of(
            "bom",
            "core",
            "backends/redis",
            "backends/zookeeper",
            "backends/etcd",
            "backends/jdbc",
            "integrations/annotations",
            "integrations/micrometer",
            "integrations/spring",
            "integrations/spring-boot",
            "integrations/spring-boot-starter",
            "integrations/spring-integration",
            "testing/servers",
            "testing/tck");
    private static final String[] ENGINES = {
        "lockstep-spring-boot-starter",
        "lockstep-spring-integration",
        "lockstep-redis",
        "lockstep-zookeeper",
        "lockstep-etcd",
        "lockstep-jdbc"
    };

    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.0", "4.1.0"})
    void aServiceRunsOnEveryEngine(String boot) throws Exception {
        Path project = resolve(boot);
        String classPath = classPath(project, "service");
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
        theTestsOfLockstepSpringPass(classPath(project, "tests"));
    }

    /** They are compiled against the oldest version of Spring, and run with that of Boot. */
    private static void theTestsOfLockstepSpringPass(String classPath) throws Exception {
        String tests = ROOT.resolve("integrations/spring/target/test-classes").toString();
        assertThat(process(
                        List.of(
                                JAVA,
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                tests + File.pathSeparator + classPath,
                                SpringTests.class.getName()),
                        Path.of("target")))
                .containsPattern("SPRING [67][.\\d]+: [3-9]\\d passed, 0 failed");
    }

    private static void works(String classPath, String product, List<String> common, String... own) throws Exception {
        assertThat(run(classPath, common, own))
                .containsPattern(
                        "RESULT 1 stock:phone \\| template \\| (?s).*UP.* \\| 1 \\| metered 1 \\| leader \\| .*"
                                + product);
    }

    /** Runs the service in a process of its own, and returns what it prints. */
    private static String run(String classPath, List<String> common, String... own) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                JAVA,
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

    /** Lets Maven resolve projects whose parent is Spring Boot's. */
    private static Path resolve(String boot) throws IOException, InterruptedException {
        Path folder = Path.of("target/boot-" + boot).toAbsolutePath();
        for (String module : MODULES) {
            copyPom(ROOT.resolve(module), folder.resolve(module));
        }
        write(folder.resolve("service"), pom(boot, "service", service()));
        write(folder.resolve("tests"), pom(boot, "tests", tests()));
        String parent = Files.readString(ROOT.resolve("pom.xml"));
        String modules = MODULES.stream()
                .map(module -> "<module>" + module + "</module>")
                .collect(Collectors.joining());
        Files.writeString(
                folder.resolve("pom.xml"),
                parent.replaceFirst(
                        "(?s)<modules>.*?</modules>",
                        "<modules>" + modules + "<module>service</module><module>tests</module></modules>"));
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
        assertThat(folder.resolve("service/classpath.txt")).as(output).exists();
        return folder;
    }

    /** The class path that Maven gives to one of them. */
    private static String classPath(Path folder, String project) throws IOException {
        Path result = folder.resolve(project + "/classpath.txt");
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
        write(to, Files.readString(from.resolve("pom.xml")));
    }

    private static void write(Path folder, String pom) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("pom.xml"), pom);
    }

    private static String service() {
        StringBuilder dependencies = new StringBuilder();
        for (String artifact : ENGINES) {
            dependencies.append(dependency("dev.lockstep", artifact));
        }
        for (String artifact : List.of(
                "spring-boot-starter-jdbc",
                "spring-boot-starter-data-redis",
                "spring-boot-starter-integration",
                "spring-boot-starter-actuator")) {
            dependencies.append(dependency("org.springframework.boot", artifact));
        }
        return dependencies.append(dependency("org.postgresql", "postgresql")).toString();
    }

    /** What the tests of lockstep-spring need; Boot manages the versions, too, except where it has none. */
    private static String tests() {
        return dependency("dev.lockstep", "lockstep-spring")
                + dependency("org.springframework", "spring-jdbc")
                + dependency("org.springframework.security", "spring-security-config")
                + dependency("org.springframework.retry", "spring-retry")
                        .replace("</dependency>", "<version>2.0.13</version></dependency>")
                + dependency("io.projectreactor", "reactor-core")
                + dependency("org.jetbrains.kotlin", "kotlin-reflect")
                + dependency("org.jetbrains.kotlinx", "kotlinx-coroutines-reactor")
                + dependency("com.h2database", "h2")
                + dependency("org.junit.jupiter", "junit-jupiter")
                + dependency("org.junit.platform", "junit-platform-launcher")
                + dependency("org.assertj", "assertj-core")
                + dependency("org.awaitility", "awaitility");
    }

    private static String pom(String boot, String name, String dependencies) {
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
                  <artifactId>%s</artifactId>
                  <version>1</version>
                  <properties>
                    <!-- Those with which the tests are compiled. -->
                    <junit-jupiter.version>6.1.3</junit-jupiter.version>
                    <kotlin.version>2.2.21</kotlin.version>
                  </properties>
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
                """.formatted(boot, name, dependencies);
    }

    private static String dependency(String group, String artifact) {
        return "<dependency><groupId>" + group + "</groupId><artifactId>" + artifact + "</artifactId></dependency>";
    }
}
