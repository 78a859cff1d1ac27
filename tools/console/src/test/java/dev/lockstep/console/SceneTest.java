package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.servers.Browser;
import dev.lockstep.servers.ChromeDriver;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A shop on Redis with a deadlock, a chain and a second namespace, in a real browser. It leaves screenshots in {@code
 * target/screenshots}; {@code -Ddocs.write=true} puts them into the guide.
 */
@Tag("full")
@Timeout(300)
class SceneTest {
    private static final boolean FOR_THE_GUIDE = Boolean.getBoolean("docs.write");
    private static final Path SHOTS =
            FOR_THE_GUIDE ? Path.of("..", "..", "docs", "console") : Path.of("target", "screenshots");
    private static final Duration LONG = Duration.ofSeconds(60);

    @SuppressWarnings("NullAway.Init")
    private static ChromeDriver driver;

    @SuppressWarnings("NullAway.Init")
    private static RedisServer redis;

    @SuppressWarnings("NullAway.Init")
    private static LockClient operator;

    @SuppressWarnings("NullAway.Init")
    private static Console console;

    private static final Shop shop = new Shop();

    @BeforeAll
    static void start() throws IOException {
        driver = Servers.require(ChromeDriver::launchNew);
        redis = Servers.require(() -> RedisServer.builder().persistent().start());
        operator = LockClient.builder()
                .url(redis.url())
                .clientName("operator")
                .requestTimeout(Duration.ofSeconds(1))
                .connect();
        console = Console.builder(operator)
                .allowRelease()
                .start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        console.read("api/now", Map.of()); // before anything happens, for the history
        LockClient[] api = new LockClient[4];
        for (int i = 0; i < api.length; i++) {
            api[i] = shop.add(Shop.client(redis.url(), "api-" + (i + 1)));
        }
        LockClient batch = shop.add(Shop.client(redis.url(), "batch-1"));
        LockClient billing = shop.add(LockClient.builder()
                .url(redis.url())
                .namespace("billing")
                .clientName("billing-1")
                .connect());
        shop.hold(billing, "invoices", "invoice:2026-11");
        shop.holdAndWait(api[0], "http-3", "account:alice", "account:bob");
        shop.holdAndWait(api[1], "http-7", "account:bob", "account:alice");
        shop.hold(batch, "nightly", "stock:phone");
        shop.holdAndWait(api[2], "http-1", "order:42", "stock:phone");
        shop.holdAndWait(api[3], "http-2", "cart:7", "order:42");
        shop.beginWaits();
        shop.wait(api[0], "http-9", "stock:phone");
        shop.wait(api[1], "http-4", "stock:phone");
        shop.wait(api[2], "http-5", "cart:7");
        for (int i = 1; i <= 3; i++) {
            shop.hold(api[i], "http-1" + i, "order:10" + i);
        }
        Shop.awaitWaiters(operator, "account:alice", 1);
        Shop.awaitWaiters(operator, "account:bob", 1);
        Shop.awaitWaiters(operator, "stock:phone", 3);
        Shop.awaitWaiters(operator, "order:42", 1);
        Shop.awaitWaiters(operator, "cart:7", 1);
    }

    @AfterAll
    static void stop() {
        shop.close();
        for (AutoCloseable each : new AutoCloseable[] {console, operator, redis, driver}) {
            try {
                if (each != null) {
                    each.close();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static String url() {
        return console.uri().orElseThrow().toString();
    }

    private static void show(Browser browser, String page) throws IOException, InterruptedException {
        browser.open(url() + "#/" + page);
        String name = page.replaceAll("[?].*", "");
        browser.await("document.querySelector('main').getAttribute('data-ready') === '" + name + "'");
    }

    private static void picture(Browser browser, String name) throws IOException, InterruptedException {
        browser.screenshot(SHOTS.resolve(name));
        if (FOR_THE_GUIDE) {
            SmallPng.shrink(SHOTS.resolve(name));
        }
    }

    @Test
    void namespacesHistoryGraphAndHeatCanBeUsed() throws Exception {
        try (Browser browser = new Browser(driver, "--lang=en")) {
            browser.size(1100, 760);
            show(browser, "now");
            browser.awaitText("td a.lock", "invoice:2026-11");
            browser.run("const s = document.querySelector('#namespace'); s.value = 'billing';"
                    + " s.dispatchEvent(new Event('change'))");
            browser.awaitText(".head .count", "1 of 1");
            assertThat(browser.text("tbody")).contains("invoice:2026-11").doesNotContain("order:42");
            assertThat(browser.run("return location.hash")).isEqualTo("#/now?namespace=billing");
            for (String[] order : new String[][] {{"name", "ascending"}, {"held", "descending"}}) {
                browser.click("button[data-focus='sort " + order[0] + "']");
                browser.await("document.querySelector('th[aria-sort=" + order[1] + "] button[data-focus=\"sort "
                        + order[0] + "\"]')");
            }

            show(browser, "history");
            browser.await("document.querySelector('#slider').max > 1", LONG);
            browser.awaitText("output", " 7 calls waiting");
            browser.run(
                    "const s = document.querySelector('#slider'); s.value = 0; s.dispatchEvent(new Event('input'))");
            browser.awaitText("output", " 0 calls waiting");
            browser.awaitText("main", "Nobody waited for a lock.");
            browser.run(
                    "const s = document.querySelector('#slider'); s.value = 1; s.dispatchEvent(new Event('input'))");
            browser.await("document.querySelector('.cursor').getAttribute('x') === '1'");
            assertThat(browser.run("return document.querySelector('#slider').value"))
                    .isEqualTo("1");
            browser.run("[...document.querySelectorAll('main button')].find(b => b.innerText === 'Live').click()");
            browser.awaitText("output", " 7 calls waiting");

            show(browser, "graph");
            browser.await("document.querySelectorAll('.graph.big .arrow.ring').length === 2");
            String fit = viewBox(browser);
            browser.click("button[aria-label='Zoom in']");
            String zoomed = viewBox(browser);
            assertThat(zoomed).isNotEqualTo(fit);
            browser.run("document.querySelector('.graph.big').focus()");
            browser.press(Browser.RIGHT);
            assertThat(viewBox(browser)).isNotEqualTo(zoomed);
            browser.press("0");
            assertThat(viewBox(browser)).isEqualTo(fit);
            browser.drag(".graph.big a.node", 60, 40);
            assertThat(viewBox(browser)).isNotEqualTo(fit);
            assertThat(browser.run("return location.hash"))
                    .as("a drag that begins on a lock is no click")
                    .isEqualTo("#/graph");
            browser.click(".graph.big a.node");
            browser.await("location.hash.startsWith('#/lock?')");

            show(browser, "heat");
            browser.await("[...document.querySelectorAll('.heat tbody td.h1, .heat tbody td.h2, .heat tbody td.h3,"
                    + " .heat tbody td.h4')].some(e => parseFloat(e.textContent) > 0)");
            browser.awaitText(".heat tbody th a", "stock:");
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
    }

    private static String viewBox(Browser browser) throws IOException, InterruptedException {
        return browser.run("return document.querySelector('.graph.big').getAttribute('viewBox')");
    }

    @Test
    void theKeyboardIsEnough() throws Exception {
        try (Browser browser = new Browser(driver, "--lang=en")) {
            browser.size(1100, 760);
            show(browser, "clients");
            browser.run("document.body.focus()");
            browser.press(Browser.TAB);
            assertThat(browser.run("return document.activeElement.className")).isEqualTo("skip");
            browser.press(Browser.ENTER);
            assertThat(browser.run("return document.activeElement.id")).isEqualTo("main");
            assertThat(browser.run("return location.hash"))
                    .as("it is still the same page")
                    .isEqualTo("#/clients");

            show(browser, "lock?namespace=lockstep&name=stock%3Aphone");
            browser.await("document.querySelector('button.danger')");
            browser.run("document.querySelector('button.danger').focus()");
            browser.press(Browser.ENTER);
            browser.await("document.querySelector('dialog').open");
            assertThat(browser.run("return document.activeElement.id")).isEqualTo("typed");
            browser.press(Browser.ESCAPE);
            browser.await("!document.querySelector('dialog').open");
            assertThat(browser.run("return document.activeElement.className"))
                    .as("back where it was")
                    .isEqualTo("danger");
            assertThat(operator.inspect("stock:phone").isFree()).isFalse();
            // The text that a screen reader reads out does not change with each look.
            show(browser, "now");
            String shown = browser.text("#cost");
            browser.run(
                    "window.said = 0; new MutationObserver(() => window.said++).observe(document.querySelector('#announce'),"
                            + " { childList: true, characterData: true, subtree: true })");
            browser.await("document.querySelector('#cost').innerText !== " + Json.write(shown));
            assertThat(browser.run("return window.said")).isEqualTo("0");
        }
    }

    @Test
    void thePicturesOfTheGuide() throws Exception {
        for (String language : List.of("en", "zh")) {
            try (Browser browser = new Browser(driver, "--lang=en")) {
                String ending = language.equals("en") ? ".png" : "." + language + ".png";
                browser.open(url() + "icon.svg");
                browser.run("localStorage.setItem('lockstep.language', '" + language
                        + "'); localStorage.setItem('lockstep.theme', 'light')");
                browser.size(1100, 700);
                show(browser, "now");
                browser.await("document.querySelector('.blocker.deadlock')", LONG);
                picture(browser, "now" + ending);
                browser.size(1100, 600);
                show(browser, "graph");
                browser.await("document.querySelectorAll('.graph.big .arrow.ring').length === 2");
                picture(browser, "graph" + ending);
                show(browser, "clients");
                browser.awaitText("table", "batch-1");
                browser.size(1100, 460);
                picture(browser, "clients" + ending);
                show(browser, "history");
                browser.await("document.querySelector('#slider').max > " + (FOR_THE_GUIDE ? 11 : 1), LONG.plus(LONG));
                browser.await("document.querySelector('.blocker')");
                browser.size(1100, 460);
                picture(browser, "history" + ending);
                browser.size(1100, 350);
                show(browser, "heat");
                browser.await("document.querySelector('.heat tbody td.h1, .heat tbody td.h2, .heat tbody td.h3, .heat"
                        + " tbody td.h4')");
                picture(browser, "heat" + ending);
                browser.size(1280, 830);
                show(browser, "lock?namespace=lockstep&name=stock%3Aphone");
                browser.await("document.querySelector('button.danger') && document.querySelector('.changes')");
                picture(browser, "lock" + ending);
                browser.size(1280, 560);
                browser.click("button.danger");
                browser.type("#typed", "stock:phone");
                browser.type("#reason", "batch-1 hangs, INC-123");
                picture(browser, "release" + ending);
                browser.press(Browser.ESCAPE);

                browser.run("localStorage.setItem('lockstep.theme', 'dark')");
                browser.size(390, 760);
                browser.open(url() + "icon.svg");
                show(browser, "now");
                browser.await("document.querySelector('.blocker.deadlock')");
                picture(browser, "phone" + ending);
            }
        }
    }

    @Test
    void theUnreachableEngineOfTheGuide() throws Exception {
        try (RedisServer away =
                        Servers.require(() -> RedisServer.builder().persistent().start());
                LockClient watcher = LockClient.builder()
                        .url(away.url())
                        .requestTimeout(Duration.ofSeconds(1))
                        .connect();
                Shop small = new Shop();
                Console other =
                        Console.builder(watcher).start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                Browser browser = new Browser(driver, "--lang=en")) {
            small.hold(small.add(Shop.client(away.url(), "api-1")), "http-3", "order:42");
            browser.size(1100, 420);
            String address = other.uri().orElseThrow().toString();
            browser.open(address);
            browser.awaitText("td", "order:42");
            away.pause();
            for (String language : List.of("en", "zh")) {
                browser.run("localStorage.setItem('lockstep.language', '" + language + "')");
                browser.open(address + "icon.svg");
                browser.open(address);
                browser.await("document.querySelector('tbody')");
                browser.await("/[1-9][0-9.]*\\s(s|秒)/.test((document.querySelector('.problem') ?? {}).innerText)");
                picture(browser, language.equals("en") ? "unreachable.png" : "unreachable.zh.png");
            }
            away.resume();
        }
    }
}
