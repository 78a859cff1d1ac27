package dev.lockstep.boot;

import static dev.lockstep.boot.BootProject.dependency;
import static dev.lockstep.boot.BootProject.process;
import static dev.lockstep.boot.BootProject.versioned;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.boot.console.ConsoleService;
import dev.lockstep.boot.secured.SecuredService;
import dev.lockstep.boot.service.ModuleTests;
import dev.lockstep.boot.service.Service;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A service with nothing but Spring Boot's parent, {@code lockstep-bom}, the starter and engines, on each version of Boot: with
 * all engines in the profile full, and with Redis and PostgreSQL on the newest Boot in every build.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class BootVersionsTest {
    private static final String NEWEST = "4.1.0";
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    /** The dependencies of the small service. */
    private static String service() {
        return dependency(
                        "dev.lockstep",
                        "lockstep-spring-boot-starter",
                        "lockstep-spring-integration",
                        "lockstep-redis",
                        "lockstep-jdbc")
                + dependency(
                        "org.springframework.boot",
                        "spring-boot-starter-jdbc",
                        "spring-boot-starter-data-redis",
                        "spring-boot-starter-integration",
                        "spring-boot-starter-actuator")
                + dependency("org.postgresql", "postgresql");
    }

    private static String serviceWithAllEngines() {
        return service()
                + dependency("dev.lockstep", "lockstep-zookeeper", "lockstep-etcd")
                + dependency("com.h2database", "h2")
                + dependency("org.xerial", "sqlite-jdbc")
                + dependency("com.mysql", "mysql-connector-j")
                + dependency("org.mariadb.jdbc", "mariadb-java-client");
    }

    /** The dependencies of lockstep-spring's tests; Boot manages the versions, too, except where it has none. */
    private static String tests() {
        return dependency("dev.lockstep", "lockstep-spring")
                + dependency("org.springframework", "spring-jdbc")
                + dependency("org.springframework.security", "spring-security-config")
                + versioned("org.springframework.retry", "spring-retry", "2.0.13")
                + dependency("jakarta.transaction", "jakarta.transaction-api")
                + dependency("io.projectreactor", "reactor-core")
                + dependency("org.jetbrains.kotlin", "kotlin-reflect")
                + dependency("org.jetbrains.kotlinx", "kotlinx-coroutines-reactor")
                + dependency("com.h2database", "h2")
                + junit();
    }

    private static String junit() {
        return dependency("org.junit.jupiter", "junit-jupiter")
                + dependency("org.junit.platform", "junit-platform-launcher")
                + dependency("org.assertj", "assertj-core")
                + dependency("org.awaitility", "awaitility")
                + dependency("org.slf4j", "slf4j-simple");
    }

    private static List<String> database(SqlServer database, RedisServer redis) {
        return List.of(
                "--spring.datasource.url=" + database.jdbcUrl(),
                "--spring.datasource.username=" + SqlServer.USER,
                "--spring.datasource.password=" + SqlServer.PASSWORD,
                "--spring.data.redis.port=" + redis.port());
    }

    @Test
    void aServiceRunsOnRedisAndPostgresWithTheNewestBoot() throws Exception {
        String classPath = BootProject.resolve(NEWEST, "boot-newest", Map.of("service", service()))
                .classPath("service");
        assertThat(classPath).contains("spring-boot-" + NEWEST + ".jar").doesNotContain("jedis-8");
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                PostgresServer postgres =
                        Servers.require(() -> PostgresServer.builder().start())) {
            List<String> database = database(postgres, redis);
            works(classPath, "Redis", database, "--lockstep.jdbc.use-data-source=false");
            works(classPath, "PostgreSQL", database, "--lockstep.jdbc.create-schema=true");
        }
        retriesOfSpringAreOutsideOfTheLock(classPath, "newest");
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.0", NEWEST})
    void aServiceRunsOnEveryEngine(String boot) throws Exception {
        BootProject project =
                BootProject.resolve(boot, "boot-" + boot, Map.of("service", serviceWithAllEngines(), "tests", tests()));
        String classPath = project.classPath("service");
        assertThat(classPath).contains("spring-boot-" + boot + ".jar").doesNotContain("jedis-8");
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                RedisServer second = Servers.require(() -> RedisServer.builder().start());
                RedisServer third = Servers.require(() -> RedisServer.builder().start());
                PostgresServer postgres =
                        Servers.require(() -> PostgresServer.builder().start());
                ZooKeeperServer zookeeper =
                        Servers.require(() -> ZooKeeperServer.builder().start());
                EtcdServer etcd = Servers.require(() -> EtcdServer.builder().start())) {
            List<String> database = database(postgres, redis);
            works(classPath, "Redis", database, "--lockstep.url=redis://127.0.0.1:" + redis.port());
            works(classPath, "Redis", database, "--lockstep.jdbc.use-data-source=false");
            works(classPath, "PostgreSQL", database, "--lockstep.jdbc.create-schema=true");
            works(classPath, "ZooKeeper", database, "--lockstep.url=zookeeper://127.0.0.1:" + zookeeper.port());
            works(classPath, "etcd", database, "--lockstep.url=etcd://127.0.0.1:" + etcd.port());
            works(classPath, "H2", database, "--lockstep.url=jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1");
            works(classPath, "SQLite", database, "--lockstep.url=jdbc:sqlite:" + project.folder() + "/locks.db");
            works(
                    classPath,
                    "Redis|Valkey|Redlock",
                    database,
                    "--lockstep.ttl=2s", // servers that were started less than a ttl ago have no vote
                    "--lockstep.url=redlock://127.0.0.1:" + redis.port() + ",127.0.0.1:" + second.port() + ",127.0.0.1:"
                            + third.port());
            assertThat(run(classPath, database, "--lockstep.url=redis://127.0.0.1:1"))
                    .contains("APPLICATION FAILED TO START", "The engine of the locks cannot be reached");
            runsOnSeveralRedisServers(classPath, database);
            runsOnOtherDatabases(classPath, redis);
        }
        assertThat(project.classPath("tests")).containsPattern("spring-core-[67]\\.");
        assertThat(runTests("integrations/spring", "dev.lockstep.spring", ".*Test", project.classPath("tests")))
                .containsPattern("TESTS: [3-9]\\d passed, 0 failed");
        if (!boot.startsWith("3.")) { // which has Spring 6
            retriesOfSpringAreOutsideOfTheLock(classPath, boot);
        }
    }

    private static void runsOnSeveralRedisServers(String classPath, List<String> database) throws Exception {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0))) {
            works(classPath, "Cluster", database, "--lockstep.url=redis-cluster://" + cluster.addresses());
        }
        try (RedisSentinels setUp = Servers.require(() -> RedisServer.builder().startSentinels(1, 1))) {
            String sentinel = setUp.sentinels().get(0).address();
            works(
                    classPath,
                    "Redis|Valkey",
                    database,
                    "--lockstep.url=redis-sentinel://" + sentinel + "/" + RedisSentinels.PRIMARY_NAME);
        }
    }

    private static void runsOnOtherDatabases(String classPath, RedisServer redis) throws Exception {
        try (MySqlServer mysql = Servers.require(() -> MySqlServer.mysql9().start())) {
            works(classPath, "MySQL", database(mysql, redis), "--lockstep.jdbc.create-schema=true");
        }
        try (MySqlServer mariaDb = Servers.require(() -> MySqlServer.mariaDb().start())) {
            works(classPath, "MariaDB", database(mariaDb, redis), "--lockstep.jdbc.create-schema=true");
        }
    }

    /** Spring 7 has a {@code @Retryable} of its own, against which this project is not compiled. */
    private static void retriesOfSpringAreOutsideOfTheLock(String classPath, String boot) throws Exception {
        Path classes = Path.of("target/spring7-" + boot).toAbsolutePath();
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-parameters",
                        "-cp",
                        classPath,
                        "-d",
                        classes.toString(),
                        "src/test/spring7/dev/lockstep/boot/service/Retries.java");
        assertThat(compiled).isZero();
        assertThat(process(
                        List.of(
                                JAVA,
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                classes + File.pathSeparator + classPath,
                                "dev.lockstep.boot.service.Retries"),
                        Path.of("target")))
                .contains("RETRIES 3 tries under 3 leases, sent 1, then LockLostAfterWorkException with sent");
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.0", NEWEST})
    void theConsoleIsAnEndpointOfTheActuator(String boot) throws Exception {
        String dependencies = dependency("dev.lockstep", "lockstep-spring-boot-starter", "lockstep-console")
                + dependency("org.springframework.boot", "spring-boot-starter-web", "spring-boot-starter-actuator");
        String classPath = BootProject.resolve(boot, "boot-console-" + boot, Map.of("service", dependencies))
                .classPath("service");
        assertThat(classPath).contains("spring-boot-" + boot + ".jar");
        String output = process(
                List.of(
                        JAVA,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath,
                        ConsoleService.class.getName(),
                        "--server.port=0",
                        "--lockstep.url=memory:",
                        "--lockstep.console.allow-release=true",
                        "--management.endpoints.web.exposure.include=lockconsole"),
                Path.of("target"));
        assertThat(output)
                .containsPattern("CONSOLE page: 200 text/html;charset=utf-8 .*src=\"lockconsole/app.js\"")
                .containsPattern("CONSOLE script: 200 text/javascript;charset=utf-8 //")
                .containsPattern("CONSOLE without parameters: 200 application/json;charset=utf-8 .*\"order:42\"")
                .containsPattern("CONSOLE with parameters: 200 .*\"total\":0[,}]")
                .containsPattern("CONSOLE release: 200 .*\\{\"released\":true\\}");
    }

    /** As integrations/spring-boot's SecuredEndpointsTest, in a whole service on each version of Spring Security. */
    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.0", NEWEST})
    void theRulesOfSpringSecurityHoldForTheActuator(String boot) throws Exception {
        String dependencies = dependency("dev.lockstep", "lockstep-spring-boot-starter", "lockstep-console")
                + dependency(
                        "org.springframework.boot",
                        "spring-boot-starter-web",
                        "spring-boot-starter-actuator",
                        "spring-boot-starter-security");
        String classPath = BootProject.resolve(boot, "boot-secured-" + boot, Map.of("service", dependencies))
                .classPath("service");
        assertThat(classPath).contains("spring-boot-" + boot + ".jar").containsPattern("spring-security-web-[67]\\.");
        assertThat(secured(classPath, "--spring.profiles.active=ruled"))
                .contains(
                        "SECURED nobody: 401 401 401 401 release 401 held delete 401",
                        "SECURED viewer: 200 200 200 200 release 403 held delete 403",
                        "SECURED operator: 200 200 200 200 release 200 free delete 200");
        assertThat(secured(classPath))
                .as("the CSRF filter refuses requests before it is known who sends them")
                .contains(
                        "SECURED nobody: 401 401 401 401 release 401 held delete 401",
                        "SECURED viewer: 200 200 200 200 release 401 held delete 401",
                        "SECURED operator: 200 200 200 200 release 401 held delete 401");
    }

    private static String secured(String classPath, String... own) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                JAVA,
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath,
                SecuredService.class.getName(),
                "--server.port=0",
                "--lockstep.url=memory:",
                "--lockstep.console.allow-release=true",
                "--lockstep.endpoint.force-release=true",
                "--management.endpoints.web.exposure.include=lockconsole,locks"));
        command.addAll(List.of(own));
        return process(command, Path.of("target"));
    }

    /** With the Kotlin that Boot manages, as its compiler and as its library. */
    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.0", NEWEST})
    void functionsThatSuspendHoldTheirLockInAServiceInKotlin(String boot) throws Exception {
        String service = dependency("dev.lockstep", "lockstep-spring-boot-starter")
                + dependency("org.jetbrains.kotlin", "kotlin-reflect")
                + dependency("org.jetbrains.kotlinx", "kotlinx-coroutines-reactor");
        String compiler = BootProject.ALL_OF_BOOT + "-kotlin";
        BootProject project = BootProject.resolve(
                boot,
                "boot-kotlin-" + boot,
                Map.of(
                        BootProject.ALL_OF_BOOT,
                        service,
                        compiler,
                        dependency("org.jetbrains.kotlin", "kotlin-compiler-embeddable")));
        String classPath = project.classPath(BootProject.ALL_OF_BOOT);
        Matcher kotlin = Pattern.compile("kotlin-reflect-([0-9.]+)\\.jar").matcher(classPath);
        assertThat(kotlin.find()).as(classPath).isTrue();
        String version = kotlin.group(1);
        assertThat(project.classPath(compiler)).contains("kotlin-compiler-embeddable-" + version + ".jar");
        Path classes = Path.of("target/kotlin-" + boot).toAbsolutePath();
        String compiled = process(
                List.of(
                        JAVA,
                        "-cp",
                        project.classPath(compiler),
                        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
                        "-no-stdlib",
                        "-no-reflect",
                        "-jvm-target",
                        "17",
                        "-classpath",
                        classPath,
                        "-d",
                        classes.toString(),
                        "src/test/kotlin-boot"),
                Path.of("."));
        assertThat(classes).as(compiled).isDirectoryRecursivelyContaining("glob:**/KotlinServiceKt.class");
        assertThat(process(
                        List.of(
                                JAVA,
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                classes + File.pathSeparator + classPath,
                                "dev.lockstep.boot.kotlin.KotlinServiceKt",
                                "--lockstep.url=memory:"),
                        Path.of("target")))
                .contains("KOTLIN " + version
                        + ": [42 held true], at most 1 at once; null, then ran; [0 held , 1 held ]; free: true");
    }

    /** A service that uses gRPC itself has protobuf-java, which has the classes of protobuf-javalite, too. */
    @Tag("full")
    @Test
    void etcdWorksBesideTheWholeProtobuf() throws Exception {
        String first = versioned("com.google.protobuf", "protobuf-java", "4.32.1");
        String classPath = BootProject.resolve(
                        NEWEST, "boot-protobuf", Map.of("service", first + serviceWithAllEngines()))
                .classPath("service");
        assertThat(classPath).contains("protobuf-java-4.32.1.jar", "protobuf-javalite");
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                PostgresServer postgres =
                        Servers.require(() -> PostgresServer.builder().start());
                EtcdServer etcd = Servers.require(() -> EtcdServer.builder().start())) {
            works(classPath, "etcd", database(postgres, redis), "--lockstep.url=etcd://127.0.0.1:" + etcd.port());
        }
    }

    /** Boot 3.5 manages JUnit 5; the extension was compiled with JUnit 6. */
    @Tag("full")
    @Test
    void theExtensionForTestsWorksInJUnit5() throws Exception {
        String needed = dependency("dev.lockstep", "lockstep-test", "lockstep-jdbc")
                + dependency("com.h2database", "h2")
                + junit();
        String classPath = BootProject.resolve("3.5.16", "boot-junit5", Map.of(BootProject.ALL_OF_BOOT, needed))
                .classPath(BootProject.ALL_OF_BOOT);
        assertThat(classPath).contains("junit-jupiter-api-5.").doesNotContain("junit-jupiter-api-6.");
        assertThat(runTests("testing/test", "dev.lockstep.test", ".*LockTestExtensionTest", classPath))
                .containsPattern("TESTS: [5-9] passed, 0 failed");
    }

    /** Runs the tests that this build has compiled for a module, in a process of its own with another class path. */
    private static String runTests(String module, String tests, String classes, String classPath) throws Exception {
        Path compiled = BootProject.ROOT.resolve(module).resolve("target/test-classes");
        return process(
                List.of(
                        JAVA,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        compiled + File.pathSeparator + classPath,
                        ModuleTests.class.getName(),
                        tests,
                        classes),
                Path.of("target"));
    }

    private static void works(String classPath, String product, List<String> common, String... own) throws Exception {
        assertThat(run(classPath, common, own))
                .containsPattern(
                        "RESULT 1 stock:phone \\| template \\| (?s).*UP.* \\| 1 \\| metered 1 \\| observed 1 \\| leader \\| .*("
                                + product + ")");
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
}
