package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.console.Console;
import dev.lockstep.servers.Browser;
import dev.lockstep.servers.ChromeDriver;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.H2Server;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The console on every kind of engine. Its behaviour on one of them is tested in its own module. */
@Tag("full")
@Timeout(300)
class ConsoleEnginesTest {
    private enum Engine {
        REDIS {
            @Override
            ServerProcess start() {
                return RedisServer.builder().start();
            }

            @Override
            String url(ServerProcess server) {
                return "redis://127.0.0.1:" + server.port();
            }
        },
        ETCD {
            @Override
            ServerProcess start() {
                return EtcdServer.builder().start();
            }

            @Override
            String url(ServerProcess server) {
                return "etcd://127.0.0.1:" + server.port();
            }
        },
        ZOOKEEPER {
            @Override
            ServerProcess start() {
                return ZooKeeperServer.builder().start();
            }

            @Override
            String url(ServerProcess server) {
                return "zookeeper://127.0.0.1:" + server.port();
            }
        },
        POSTGRESQL {
            @Override
            ServerProcess start() {
                return PostgresServer.builder().start();
            }

            @Override
            String url(ServerProcess server) {
                return sql(server);
            }
        },
        MARIADB {
            @Override
            ServerProcess start() {
                return MySqlServer.mariaDb().start();
            }

            /** MariaDB's driver does not read the escapes of a password in a URL, so this is another user. */
            @Override
            String url(ServerProcess server) {
                String url = ((SqlServer) server).jdbcUrl();
                try (Connection connection = DriverManager.getConnection(url, SqlServer.USER, SqlServer.PASSWORD);
                        Statement statement = connection.createStatement()) {
                    statement.execute("CREATE USER IF NOT EXISTS 'plain'@'%' IDENTIFIED BY 'plain'");
                    statement.execute("GRANT ALL ON *.* TO 'plain'@'%'");
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
                return withUser(url, "plain", "plain");
            }
        },
        MYSQL {
            @Override
            ServerProcess start() {
                return MySqlServer.mysql9().start();
            }

            @Override
            String url(ServerProcess server) {
                return sql(server);
            }
        },
        H2 {
            @Override
            ServerProcess start() {
                return H2Server.builder().start();
            }

            @Override
            String url(ServerProcess server) {
                return sql(server);
            }
        };

        abstract ServerProcess start();

        abstract String url(ServerProcess server);

        /** With the server's own user, whose password has a special character. */
        private static String sql(ServerProcess server) {
            String url = ((SqlServer) server).jdbcUrl();
            return url.startsWith("jdbc:h2:")
                    ? url + ";USER=" + SqlServer.USER + ";PASSWORD=" + SqlServer.PASSWORD
                            + ";lockstep.createSchema=true"
                    : withUser(url, SqlServer.USER, URLEncoder.encode(SqlServer.PASSWORD, StandardCharsets.UTF_8));
        }

        private static String withUser(String url, String user, String password) {
            return url + (url.contains("?") ? "&" : "?") + "user=" + user + "&password=" + password
                    + "&lockstep.createSchema=true";
        }
    }

    private static Console serve(LockClient operator) throws IOException {
        return Console.builder(operator)
                .allowRelease()
                .start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private static LockClient client(String url, String name) {
        return LockClient.builder()
                .url(url)
                .clientName(name)
                .recordWaitsAfter(Duration.ofMillis(100))
                .connect();
    }

    /** A thread that holds one lock and waits for another one until it gets it or the client is closed. */
    private static CompletableFuture<Void> crossed(LockClient client, String held, String wanted, CountDownLatch both) {
        CompletableFuture<Void> got = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        client.lock(held).lock();
                        both.countDown();
                        both.await();
                        client.lock(wanted).lockInterruptibly();
                        got.complete(null);
                    } catch (InterruptedException | RuntimeException e) {
                        got.completeExceptionally(e);
                    }
                },
                "worker");
        thread.setDaemon(true);
        thread.start();
        return got;
    }

    @ParameterizedTest
    @EnumSource
    void aDeadlockIsShownAndEndsWithAForceRelease(Engine engine) throws Exception {
        try (ServerProcess server = Servers.require(engine::start);
                LockClient operator = client(engine.url(server), "operator");
                LockClient one = client(engine.url(server), "api-1");
                LockClient two = client(engine.url(server), "api-2");
                Console console = serve(operator);
                ChromeDriver driver = Servers.require(ChromeDriver::launchNew);
                Browser browser = new Browser(driver, "--lang=en")) {
            CountDownLatch both = new CountDownLatch(2);
            CompletableFuture<Void> first = crossed(one, "account:alice", "account:bob", both);
            CompletableFuture<Void> second = crossed(two, "account:bob", "account:alice", both);
            String url = console.uri().orElseThrow().toString();
            browser.open(url);
            browser.awaitText(".blocker.deadlock .tag", "DEADLOCK");
            assertThat(browser.text(".blocker p"))
                    .containsPattern("api-1 \\(thread worker #\\d+\\) holds account:alice and waits for account:bob")
                    .doesNotContain("outdated");
            assertThat(first.isDone() || second.isDone()).isFalse();

            browser.open(url + "#/lock?namespace=lockstep&name=account%3Abob");
            browser.await("document.querySelector('button.danger')");
            browser.click("button.danger");
            browser.type("#typed", "account:bob");
            browser.type("#reason", "deadlock");
            browser.click("#go");
            browser.awaitText(".notice", "Released.");
            first.get(20, TimeUnit.SECONDS);
            browser.open(url);
            browser.await("!document.querySelector('.blocker.deadlock')");
        }
    }

    /**
     * All of the engine's processes, with what 10,000 held locks cost them, before the console looks and while it does. The
     * console's own module measures Redis.
     */
    @ParameterizedTest
    @EnumSource(names = "REDIS", mode = EnumSource.Mode.EXCLUDE)
    void tenThousandLocksCostLittle(Engine engine) throws Exception {
        try (ServerProcess server = Servers.require(engine::start);
                LockClient client = client(engine.url(server), "api-1");
                LockClient operator = client(engine.url(server), "operator")) {
            List<CompletableFuture<Lease>> leases = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                leases.add(client.lock("order:" + i).acquireAsync().toCompletableFuture());
            }
            leases.forEach(CompletableFuture::join);
            TimeUnit.SECONDS.sleep(3); // until what the grants caused is done
            double idle = share(server, Duration.ofSeconds(10));
            try (Console console = serve(operator);
                    ChromeDriver driver = Servers.require(ChromeDriver::launchNew);
                    Browser browser = new Browser(driver, "--lang=en")) {
                browser.open(console.uri().orElseThrow().toString());
                browser.awaitText(".count", "100 of 10,000");
                double watched = share(server, Duration.ofSeconds(30));
                System.out.printf(
                        "10,000 locks on %s: %.1f %% of a core without the console, %.1f %% with it; %s%n",
                        engine, idle * 100, watched * 100, browser.text("#cost"));
                assertThat(watched - idle).as("of a core").isLessThan(0.05);
            }
        }
    }

    /** The share of a core that a server uses for some time. */
    private static double share(ServerProcess server, Duration time) throws InterruptedException {
        Duration before = cpu(server);
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
        return cpu(server).minus(before).toMillis() / (double) time.toMillis();
    }

    /** PostgreSQL has a process for each connection, and more for its own work. */
    private static Duration cpu(ServerProcess server) {
        ProcessHandle first = ProcessHandle.of(server.pid()).orElseThrow();
        return Stream.concat(Stream.of(first), first.descendants())
                .flatMap(process -> process.info().totalCpuDuration().stream())
                .reduce(Duration.ZERO, Duration::plus);
    }
}
