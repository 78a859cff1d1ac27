package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.servers.Browser;
import dev.lockstep.servers.ChromeDriver;
import dev.lockstep.servers.JavaProcess;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The console in a real browser, on real engines. It leaves screenshots in {@code target/screenshots}. */
@Tag("full")
@Timeout(300)
class BrowserTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int LOOKS = 6;
    private static final Path SHOTS = Path.of("target", "screenshots");

    @SuppressWarnings("NullAway.Init")
    private static ChromeDriver driver;

    @BeforeAll
    static void startDriver() {
        driver = Servers.require(ChromeDriver::launchNew);
    }

    @AfterAll
    static void stopDriver() {
        if (driver != null) {
            driver.close();
        }
    }

    private static Console start(Console.Builder builder) throws IOException {
        return builder.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private static String url(Console console) {
        return console.uri().orElseThrow().toString();
    }

    @Test
    void aContendedShopOfThreeProcesses() throws Exception {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                LockClient operator = LockClient.connect("redis://127.0.0.1:" + redis.port());
                Console console = start(Console.builder(operator));
                Browser browser = new Browser(driver, "--lang=en");
                JavaProcess first = shop(redis, "api-1", true);
                JavaProcess second = shop(redis, "api-2", false);
                JavaProcess third = shop(redis, "api-3", false)) {
            for (JavaProcess process : List.of(first, second, third)) {
                assertThat(process.next(PATIENCE)).isEqualTo("holds");
            }
            for (JavaProcess process : List.of(second, third)) {
                process.send("wait");
                assertThat(process.next(PATIENCE)).isEqualTo("waits");
            }
            Shop.awaitWaiters(operator, ShopProcess.HOT, 2); // threads of one process share a claim
            browser.size(1280, 900);
            browser.open(url(console));
            browser.awaitText(".blocker p", "2 calls wait");
            assertThat(browser.text(".blocker p")).contains("stock:phone is held by api-1, thread seller");
            assertThat(browser.text(".engine")).startsWith("Redis 7.").contains("reachable");
            assertThat(browser.run("return document.querySelectorAll('tbody tr').length"))
                    .isEqualTo("4");
            browser.open(url(console) + "#/clients");
            browser.awaitText("tr.contended", "api-2");

            browser.open(url(console) + "#/lock?namespace=lockstep&name=stock%3Aphone");
            browser.awaitText("table", "api-1");
            first.kill(); // its lock ends with its ttl: until then its remaining time falls
            browser.await("parseFloat(document.querySelector('td[data-title=Remaining]').innerText) < 29", PATIENCE);
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
    }

    private static JavaProcess shop(RedisServer redis, String name, boolean holds) {
        return JavaProcess.start(
                ShopProcess.class.getName(), "redis://127.0.0.1:" + redis.port(), name, Boolean.toString(holds));
    }

    @Test
    void aDeadlockComesFirstAndIsOverAfterAForceRelease() throws Exception {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                Shop shop = new Shop();
                LockClient operator = Shop.client(redis.url(), "operator");
                Console console = start(Console.builder(operator).allowRelease());
                Browser browser = new Browser(driver, "--lang=en")) {
            LockClient one = shop.add(Shop.client(redis.url(), "api-4"));
            LockClient two = shop.add(Shop.client(redis.url(), "api-5"));
            LockClient batch = shop.add(Shop.client(redis.url(), "batch-1"));
            shop.hold(batch, "main", "report:daily");
            shop.wait(one, "http-9", "report:daily");
            shop.wait(two, "http-9", "report:daily");
            shop.holdAndWait(one, "http-7", "account:alice", "account:bob");
            shop.holdAndWait(two, "http-2", "account:bob", "account:alice");
            shop.beginWaits();
            Shop.awaitWaiters(operator, "account:alice", 1);
            Shop.awaitWaiters(operator, "account:bob", 1);
            Shop.awaitWaiters(operator, "report:daily", 2);

            browser.size(1280, 900);
            browser.open(url(console));
            browser.awaitText(".blocker:first-child .tag", "DEADLOCK");
            browser.await("!document.querySelector('.blocker.cycle')"); // it is confirmed by the next look
            assertThat(browser.text(".blocker:first-child p"))
                    .containsPattern("api-4 \\(thread http-7 #\\d+\\) holds account:alice and waits for account:bob")
                    .containsPattern("api-5 \\(thread http-2 #\\d+\\) holds account:bob and waits for account:alice")
                    .contains("None of them can continue");
            assertThat(browser.text(".totals .bad")).contains("1").contains("deadlocks");
            browser.open(url(console) + "#/graph");
            browser.await("document.querySelectorAll('.graph.big .arrow.ring').length === 2");

            browser.open(url(console) + "#/lock?namespace=lockstep&name=account%3Abob");
            browser.await("document.querySelector('button.danger')");
            browser.click("button.danger");
            assertThat(browser.run("return document.querySelector('#go').disabled"))
                    .isEqualTo("true");
            browser.type("#typed", "account:bo");
            browser.type("#reason", "deadlock, INC-123");
            assertThat(browser.run("return document.querySelector('#go').disabled"))
                    .isEqualTo("true");
            browser.type("#typed", "b");
            browser.click("#go");
            browser.awaitText(".notice", "Released.");
            browser.awaitText("table", "api-4"); // who waited for it has it now
            browser.awaitText(".changes", "acquired it");
            browser.open(url(console));
            browser.await("!document.querySelector('.blocker.deadlock') && document.querySelector('.blocker')");
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
    }

    @Test
    void anUnreachableEngineIsShownWithTheLastAnswer() throws Exception {
        try (RedisServer redis =
                        Servers.require(() -> RedisServer.builder().persistent().start());
                LockClient operator = LockClient.builder()
                        .url("redis://127.0.0.1:" + redis.port())
                        .requestTimeout(Duration.ofSeconds(1))
                        .connect();
                Lease lease = operator.lock("order:42").acquire();
                Console console = start(Console.builder(operator));
                Browser browser = new Browser(driver, "--lang=en")) {
            browser.open(url(console));
            browser.awaitText("td", "order:42");
            redis.pause();
            browser.awaitText(".problem", "The engine has not answered for");
            assertThat(browser.text("tbody")).contains("order:42");
            assertThat(browser.run("return !!document.querySelector('.dot.down')"))
                    .isEqualTo("true");
            assertThat(browser.text("#announce")).isEqualTo("The engine does not answer.");
            assertThat(browser.text("#cost"))
                    .contains("asked again until it answers")
                    .doesNotContain("%");
            redis.resume();
            browser.await("!document.querySelector('.problem') && document.querySelector('.dot.up')");
            browser.await("document.querySelector('#announce').textContent === ''");
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void nothingIsSaidOfLocksBeforeTheEngineHasAnswered() throws Exception {
        try (RedisServer redis =
                        Servers.require(() -> RedisServer.builder().persistent().start());
                LockClient operator = LockClient.builder()
                        .url(redis.url())
                        .requestTimeout(Duration.ofSeconds(1))
                        .lazyConnect()
                        .connect();
                LockClient holder = LockClient.connect(redis.url());
                Lease lease = holder.lock("order:42").acquire()) {
            redis.pause();
            try (Console console = start(Console.builder(operator));
                    Browser browser = new Browser(driver, "--lang=en")) {
                browser.open(url(console));
                browser.awaitText(".problem", "The engine does not answer.");
                assertThat(browser.text("body")).doesNotContain("No lock is held", "Nobody waits");
                assertThat(browser.text("#cost")).contains("asked again until it answers");
                redis.resume();
                browser.awaitText("td", "order:42");
            }
            assertThat(lease.isValid()).isTrue();
        }
    }

    /** A browser has six connections to a host: a tab that is not seen must leave its stream to others. */
    @Test
    void aHiddenTabHasNoStream() throws Exception {
        try (LockClient operator = LockClient.connect("memory:");
                Console console = start(Console.builder(operator));
                Browser browser = new Browser(driver, "--lang=en")) {
            browser.open(url(console));
            browser.awaitText("main", "No lock is held");
            awaitStreams(console, 1);
            see(browser, false);
            awaitStreams(console, 0);
            operator.lock("order:42").lock();
            see(browser, true);
            browser.awaitText("td", "order:42");
            awaitStreams(console, 1);
            operator.lock("order:42").unlock();
            browser.awaitText("main", "No lock is held");
        }
    }

    /** Lets the page believe that its tab is seen, or not: without a window there is no other way. */
    private static void see(Browser browser, boolean seen) throws IOException, InterruptedException {
        browser.run("Object.defineProperty(document, 'hidden', { configurable: true, get: () => " + !seen + " });"
                + " document.dispatchEvent(new Event('visibilitychange'))");
    }

    private static void awaitStreams(Console console, int count) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (console.streams() != count) {
            assertThat(System.nanoTime()).as("streams: " + console.streams()).isLessThan(deadline);
            LockSupport.parkNanos(5_000_000);
        }
    }

    @Test
    void aMountedPageShowsNothingInAFrameWhateverItsAddress() throws Exception {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        try (LockClient operator = LockClient.connect("memory:");
                Console console = Console.builder(operator).allowRelease().mount();
                Browser browser = new Browser(driver, "--lang=en")) {
            operator.lock("order:42").lock();
            http.createContext("/console/", exchange -> {
                String path = exchange.getRequestURI().getPath().substring("/console/".length());
                answer(exchange, console.read(path, Map.of()));
            });
            http.createContext(
                    "/frame",
                    exchange -> answer(
                            exchange,
                            new Console.Page(
                                    200,
                                    "text/html",
                                    "<iframe src='console/' width='900' height='600'></iframe>"
                                            .getBytes(StandardCharsets.UTF_8))));
            http.setExecutor(task -> new Thread(task).start());
            http.start();
            String address = "http://127.0.0.1:" + http.getAddress().getPort() + "/";
            browser.open(address + "console/");
            browser.awaitText("td", "order:42");
            browser.open(address + "frame");
            String inside = "document.querySelector('iframe').contentDocument";
            browser.await(inside + ".querySelector('.problem')");
            // The changes that the page around it can make to its address.
            browser.run("document.querySelector('iframe').contentWindow.location.hash = '#/clients'");
            browser.run(inside + ".querySelector('nav a[data-page=now]').click()");
            browser.run(inside + ".querySelector('#pause').click()");
            browser.run(inside + ".querySelector('#language').dispatchEvent(new Event('change'))");
            browser.await(inside
                    + ".querySelector('main').innerText === 'The console is not shown inside a page of another site.'");
            TimeUnit.SECONDS.sleep(2); // in which it would ask twice
            assertThat(browser.run("return " + inside + ".querySelector('main').innerText"))
                    .isEqualTo("The console is not shown inside a page of another site.");
        } finally {
            http.stop(0);
        }
    }

    @Test
    void thePageSaysSoIfAnAnswerDoesNotCome() throws Exception {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        CompletableFuture<Void> over = new CompletableFuture<>();
        AtomicBoolean stalls = new AtomicBoolean();
        try (LockClient operator = LockClient.connect("memory:");
                Console console = Console.builder(operator).mount();
                Browser browser = new Browser(driver, "--lang=en")) {
            operator.lock("order:42").lock();
            http.createContext("/console/", exchange -> {
                String path = exchange.getRequestURI().getPath().substring("/console/".length());
                if (stalls.get() && path.startsWith("api/")) {
                    over.join();
                }
                answer(exchange, console.read(path, Map.of()));
            });
            http.setExecutor(task -> new Thread(task).start());
            http.start();
            browser.open("http://127.0.0.1:" + http.getAddress().getPort() + "/console/");
            browser.awaitText("td", "order:42");
            stalls.set(true);
            browser.await("document.querySelector('.problem')", PATIENCE); // which the page has for ten seconds
            assertThat(browser.text(".problem")).isEqualTo("No connection to the console. Trying again…");
            stalls.set(false);
            browser.await("!document.querySelector('.problem')");
        } finally {
            over.complete(null);
            http.stop(0);
        }
    }

    private static void answer(HttpExchange exchange, Console.Page page) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", page.type());
            exchange.sendResponseHeaders(page.status(), page.body().length);
            exchange.getResponseBody().write(page.body());
        }
    }

    @Test
    void tenThousandLocksAreShownWithinTwoSecondsAndCostLittle() throws Exception {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                LockClient client = LockClient.connect("redis://127.0.0.1:" + redis.port());
                LockClient operator = LockClient.connect("redis://127.0.0.1:" + redis.port())) {
            List<CompletableFuture<Lease>> leases = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                leases.add(client.lock("order:" + i).acquireAsync().toCompletableFuture());
            }
            leases.forEach(CompletableFuture::join);
            try (Console console = start(Console.builder(operator));
                    Browser browser = new Browser(driver, "--lang=en")) {
                browser.open(url(console) + "icon.svg"); // the start of the browser is not the console's
                long start = System.nanoTime();
                browser.open(url(console));
                browser.awaitText(".count", "100 of 10,000");
                Duration first = Duration.ofNanos(System.nanoTime() - start);
                browser.type("#search", "order:999");
                browser.awaitText(".count", "11 of 11");

                // Two looks later what is measured is the usual cost, and what holding 10,000 locks costs is not the
                // console's.
                Poller poller = console.poller();
                poller.await(poller.watch().version() + 1, Duration.ofSeconds(60));
                double before = cpuSeconds(redis);
                long watched = System.nanoTime();
                poller.await(poller.watch().version() + LOOKS - 1, Duration.ofSeconds(120));
                double share = (cpuSeconds(redis) - before) / ((System.nanoTime() - watched) / 1e9);
                System.out.printf(
                        "10,000 locks: first view %d ms, listing %d ms in %d pages, Redis busy %.1f %%%n",
                        first.toMillis(),
                        poller.watch().cost().took().toMillis(),
                        poller.watch().cost().pages(),
                        share * 100);
                assertThat(first).isLessThan(Duration.ofSeconds(2));
                assertThat(poller.watch().cost().share()).isLessThanOrEqualTo(0.0501);
                assertThat(share)
                        .as("of a core, with the renewals of the locks")
                        .isLessThan(0.05);
            }
        }
    }

    @Test
    void aLockThatWasNotListedIsNotCalledFree() throws Exception {
        MemoryEngine engine = new MemoryEngine();
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i <= Poller.MOST_NAMESPACES; i++) {
            LockClient client =
                    LockClient.builder().backend(engine).namespace("shop-" + i).connect();
            client.lock("order:42").lock();
            clients.add(client);
        }
        try (LockClient operator = LockClient.builder().backend(engine).connect();
                Console console = start(Console.builder(operator));
                Browser browser = new Browser(driver, "--lang=en")) {
            String last = "shop-99"; // of their names in order
            browser.open(url(console) + "#/lock?namespace=" + last + "&name=order%3A42");
            browser.awaitText("main", "There are more locks or namespaces than are listed, and this one was not.");
            assertThat(browser.text("main")).doesNotContain("Nobody holds", "Nobody waits", "Read-only");
            browser.open(url(console) + "#/lock?namespace=shop-0&name=order%3A42");
            browser.awaitText("main", "Read-only");
            browser.open(url(console) + "#/now?namespace=" + last + "&prefix=order");
            browser.awaitText("main", "No such lock is among those that were listed.");
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
        clients.forEach(LockClient::close);
    }

    /** The processor time that Redis has used, in seconds. */
    private static double cpuSeconds(RedisServer redis) {
        String info = redis.command("INFO", "cpu");
        double sum = 0;
        for (String line : info.split("\\R", -1)) {
            if (line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:")) {
                sum += Double.parseDouble(line.substring(line.indexOf(':') + 1));
            }
        }
        return sum;
    }

    @Test
    void hostileNamesAreTextOnEveryPage() throws Exception {
        List<String> names = List.of(
                "<script>document.title='hacked'</script>",
                "<img src=x onerror=\"document.title='hacked'\">",
                "\"><svg onload=alert(1)>",
                "javascript:alert(1)",
                "{{7*7}} ${7*7} %3Cb%3E &lt;b&gt;",
                "a/b?c=d#e&f=g+h",
                "\u202eesrever \u200b 锁 🔒",
                "x".repeat(512));
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                Shop shop = new Shop();
                LockClient operator = Shop.client(redis.url(), "operator");
                Console console = start(Console.builder(operator).allowRelease());
                Browser browser = new Browser(driver, "--lang=en")) {
            LockClient holder = shop.add(Shop.client(redis.url(), "<b>api</b>"));
            LockClient waiter = shop.add(Shop.client(redis.url(), "'\"><i>web</i>"));
            shop.holdAndWait(waiter, "<s>deadlock</s>", "<i>one</i>", "<u>two</u>");
            shop.holdAndWait(holder, "<s>deadlock</s>", "<u>two</u>", "<i>one</i>");
            shop.beginWaits();
            LockClient other = shop.add(LockClient.builder()
                    .url(redis.url())
                    .namespace("<s>namespace</s>")
                    .clientName("\u202exyz")
                    .connect());
            shop.hold(other, "<u>thread</u>", "in another namespace");
            for (String name : names) {
                shop.hold(holder, "<u>thread</u>", name);
                shop.wait(waiter, "<s>thread</s>", name);
                Shop.awaitWaiters(operator, name, 1);
            }
            browser.open(url(console));
            browser.awaitText(".blocker:first-child .tag", "DEADLOCK");
            browser.awaitText(".blocker:first-child p", "(thread <s>deadlock</s> #");
            browser.awaitText("td", "<s>namespace</s>");
            browser.awaitText("#namespace option", "<s>namespace</s>");
            // Characters that turn the direction of text have no effect beyond the name.
            assertThat(browser.run("return [...document.querySelectorAll('.lock, .client, .thread, code')]"
                            + ".every(e => getComputedStyle(e).unicodeBidi === 'isolate')"))
                    .isEqualTo("true");
            for (String page : List.of("now", "graph", "clients", "heat", "history")) {
                browser.open(url(console) + "#/" + page);
                browser.await("document.querySelector('main').getAttribute('data-ready') === '" + page + "'");
                browser.await("document.querySelector('main').innerText.includes('<script>')"
                        + " || ['heat', 'graph'].includes('" + page + "')");
                innocent(browser);
            }
            for (String name : names) {
                LockInfo.Entry held = operator.inspect(name).holders().get(0);
                browser.open(url(console));
                browser.awaitText("td a.lock", name.length() > 100 ? "xxxx" : name.strip());
                browser.run("[...document.querySelectorAll('td a.lock')].find(a => a.textContent === "
                        + Json.write(name) + ").click()");
                browser.await("document.querySelector('h1').textContent === " + Json.write(name));
                browser.awaitText("td", Long.toString(held.token().orElseThrow()));
                innocent(browser);
            }
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
    }

    private static void innocent(Browser browser) throws IOException, InterruptedException {
        assertThat(browser.run("return document.title")).isNotEqualTo("hacked");
        assertThat(browser.run(
                        "return document.querySelectorAll('main script, main img, main i:not([class]), main u, main s,"
                                + " main svg[onload]').length"))
                .isEqualTo("0");
    }

    @Test
    void itCanBeUsedByKeyboardInTheDarkOnAPhoneAndInChinese() throws Exception {
        RecordedWaits engine = new RecordedWaits();
        try (Shop shop = new Shop();
                LockClient operator = engine.client("operator");
                Console console = start(Console.builder(operator));
                Browser browser = new Browser(driver, "--lang=en")) {
            LockClient api = shop.add(engine.client("api-7"));
            shop.hold(api, "http-3", "order:42");
            shop.wait(shop.add(engine.client("web-1")), "main", "order:42");
            LockClient web = shop.add(engine.client("web-2"));
            shop.holdAndWait(api, "http-1", "account:alice", "account:bob");
            shop.holdAndWait(web, "http-2", "account:bob", "account:alice");
            shop.beginWaits();
            Shop.awaitWaiters(operator, "order:42", 1);
            Shop.awaitWaiters(operator, "account:alice", 1);
            Shop.awaitWaiters(operator, "account:bob", 1);
            engine.record("account:alice", "account:bob", "http-1");
            engine.record("account:bob", "account:alice", "http-2");
            browser.open(url(console));
            browser.awaitText("td", "order:42");
            // Everything that can be clicked has a name and can have the focus.
            assertThat(browser.run("return [...document.querySelectorAll('a, button, input, select')]"
                            + ".filter(e => e.tabIndex < 0 || !(e.innerText || e.textContent || e.ariaLabel || (e.labels && e.labels.length)))"
                            + ".map(e => e.outerHTML).join()"))
                    .isEmpty();
            // An update does not take the focus away.
            browser.run("[...document.querySelectorAll('td a.lock')].find(a => a.textContent === 'order:42').focus()");
            String shown = browser.text("#cost");
            browser.await("document.querySelector('#cost').innerText !== " + Json.write(shown));
            assertThat(browser.run("return document.activeElement.textContent")).isEqualTo("order:42");

            browser.run(
                    "localStorage.setItem('lockstep.theme', 'dark'); localStorage.setItem('lockstep.language', 'zh')");
            browser.size(390, 844);
            browser.run("location.reload()");
            browser.awaitText(".blocker.deadlock .tag", "死锁");
            assertThat(browser.run("return document.documentElement.lang")).isEqualTo("zh-CN");
            assertThat(browser.run("return getComputedStyle(document.body).backgroundColor"))
                    .isEqualTo("rgb(18, 22, 28)");
            assertThat(browser.run("return [...document.querySelectorAll('body, main, .blocker, .words, tr')]"
                            + ".every(e => e.getBoundingClientRect().right <= innerWidth)"))
                    .isEqualTo("true");
            // A phone shows the picture of two locks as a whole.
            assertThat(browser.run("return [...document.querySelectorAll('.graph.small')]"
                            + ".map(e => e.getBoundingClientRect().right <= innerWidth).join()"))
                    .isEqualTo("true,true");
            browser.screenshot(SHOTS.resolve("phone-dark-zh.png"));
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
    }
}
