package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Debian's Chromium behind its WebDriver server, for tests in a real browser. A test opens sessions with W3C WebDriver requests to
 * {@link #url()}, with {@link #capabilities} as their settings. Thread-safe.
 */
public final class ChromeDriver extends ServerProcess {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    /** How soon a probe is given up and repeated. The start fails only when {@code START_TIMEOUT} is over. */
    private static final int PROBE_MILLIS = 1_000;

    private static final List<String> ARGUMENTS = List.of(
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync");

    private final Program driver;
    private final Path browser;
    private final Map<String, String> environment;

    private ChromeDriver() {
        super("chromedriver", FreePorts.next(), START_TIMEOUT);
        if (Program.installed("chromedriver").isPresent()
                && Program.installed("chromium").isPresent()) {
            driver = Program.installed("chromedriver").get();
            browser = Program.installed("chromium").get().path();
            environment = Map.of();
        } else {
            // The font has the Chinese characters, which many machines lack.
            DebianPackages packages = DebianPackages.get(List.of("chromium-driver", "chromium", "fonts-wqy-microhei"));
            driver = packages.program("chromedriver");
            browser = packages.root().resolve("usr/lib/chromium/chromium");
            Path fonts = write(
                    "fonts.conf",
                    List.of(
                            "<?xml version=\"1.0\"?>",
                            "<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">",
                            "<fontconfig>",
                            "<dir>/usr/share/fonts</dir>",
                            "<dir>" + packages.root().resolve("usr/share/fonts") + "</dir>",
                            "<include ignore_missing=\"yes\">/etc/fonts/conf.d</include>",
                            "<alias binding=\"same\"><family>system-ui</family><prefer><family>DejaVu Sans</family>"
                                    + "<family>WenQuanYi Micro Hei</family></prefer></alias>",
                            "<cachedir>" + directory().resolve("fonts") + "</cachedir>",
                            "</fontconfig>"));
            environment = Map.of("FONTCONFIG_FILE", fonts.toString());
        }
    }

    /**
     * Starts it.
     *
     * @return the running server
     * @throws ServerUnavailableException if there is no Chromium here
     * @throws ServerException if it does not start
     */
    public static ChromeDriver launchNew() {
        return ServerProcess.started(new ChromeDriver());
    }

    /**
     * Says where it takes requests.
     *
     * @return {@code http://127.0.0.1:port}
     */
    public String url() {
        return "http://" + address();
    }

    /**
     * Makes the request that opens a session: a browser without a window, with a new profile.
     *
     * @param more further arguments of Chromium, such as {@code --window-size=1280,900}
     * @return the body of {@code POST /session}, as JSON
     * @throws IOException if there is no room for the profile
     */
    public String capabilities(String... more) throws IOException {
        StringBuilder arguments = new StringBuilder();
        for (String argument : ARGUMENTS) {
            arguments.append('"').append(argument).append("\",");
        }
        for (String argument : more) {
            arguments.append('"').append(argument).append("\",");
        }
        Path profile = Files.createTempDirectory(directory(), "profile");
        arguments.append("\"--user-data-dir=").append(profile).append('"');
        return "{\"capabilities\":{\"alwaysMatch\":{\"browserName\":\"chrome\",\"goog:loggingPrefs\":{\"browser\":\"ALL\"},"
                + "\"goog:chromeOptions\":{\"binary\":\"" + browser + "\",\"args\":[" + arguments + "]}}}}";
    }

    @Override
    Launch launch() {
        Launch launch = Launch.of(driver, "--port=" + port(), "--allowed-ips=127.0.0.1");
        Map<String, String> all = new HashMap<>(launch.environment());
        all.putAll(environment);
        return new Launch(launch.command(), all, false);
    }

    @Override
    boolean isReady() throws IOException {
        URLConnection connection = URI.create(url() + "/status").toURL().openConnection();
        connection.setConnectTimeout(PROBE_MILLIS);
        connection.setReadTimeout(PROBE_MILLIS);
        try (InputStream answer = connection.getInputStream()) {
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8).contains("\"ready\":true");
        }
    }
}
