package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.servers.Browser;
import dev.lockstep.servers.ChromeDriver;
import dev.lockstep.servers.Servers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The console in a real browser: that it works at all. The rest is in {@link BrowserTest}. */
@Timeout(120)
class BrowserSmokeTest {
    @Test
    void everyPageShowsWhoHoldsAndWhoWaits() throws Exception {
        RecordedWaits engine = new RecordedWaits();
        try (ChromeDriver driver = Servers.require(ChromeDriver::launchNew);
                Shop shop = new Shop();
                LockClient operator = engine.client("operator");
                Console console =
                        Console.builder(operator).start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                Browser browser = new Browser(driver, "--lang=en")) {
            LockClient api = shop.add(engine.client("api-7"));
            LockClient batch = shop.add(engine.client("batch-1"));
            shop.hold(api, "http-3", "order:42");
            shop.hold(api, "http-4", "<script>alert(1)</script>");
            shop.wait(batch, "main", "order:42");
            Shop.awaitWaiters(operator, "order:42", 1);

            String url = console.uri().orElseThrow().toString();
            browser.open(url);
            browser.awaitText(".blocker", "1 call waits");
            assertThat(browser.text(".blocker p"))
                    .contains("order:42 is held by api-7, thread http-3")
                    .contains("the longest for");
            browser.awaitText("td", "<script>alert(1)</script>");

            browser.click("td a.lock");
            browser.awaitText("h1", "order:42");
            browser.awaitText("table", "batch-1");
            assertThat(browser.text("main")).contains("Read-only").doesNotContain("Force release…");
            for (String page : new String[] {"graph", "clients", "heat", "history"}) {
                browser.open(url + "#/" + page);
                browser.await("document.querySelector('main').getAttribute('data-ready') === '" + page + "'");
                assertThat(browser.text(".problem")).isEmpty();
            }
            browser.open(url + "#/clients");
            browser.awaitText("table", "api-7");
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
    }
}
