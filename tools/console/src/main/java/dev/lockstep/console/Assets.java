package dev.lockstep.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The files of the page. They are a fixed list, read once from the jar, so that no path leads anywhere else. Immutable. */
final class Assets {
    static final String INDEX = "index.html";
    private static final List<String> FILES = List.of(
            INDEX,
            "app.css",
            "icon.svg",
            "app.js",
            "dom.js",
            "i18n.js",
            "en.js",
            "zh.js",
            "graph.js",
            "parts.js",
            "now.js",
            "lock.js",
            "clients.js",
            "heat.js",
            "history.js");

    private final Map<String, Console.Page> pages = new LinkedHashMap<>();

    Assets() {
        for (String file : FILES) {
            pages.put(file, new Console.Page(200, type(file), read(file)));
        }
    }

    Console.@Nullable Page page(String path) {
        return pages.get(path.isEmpty() ? INDEX : path);
    }

    /**
     * The first page, for a place where it has another address than the files beside it, and where there is no stream of events.
     * There is no {@code <base>}: the page's links, which are fragments, would lead to it and load the page again.
     *
     * @param base where the files are, from the page's address: plain letters, digits and slashes
     */
    Console.Page mounted(String base) {
        if (!base.matches("[A-Za-z0-9/_.-]*")) {
            throw new IllegalArgumentException("no place for a console: " + base);
        }
        String html = new String(read(INDEX), StandardCharsets.UTF_8)
                .replaceAll("(href|src)=\"(?=[a-z]+\\.)", "$1=\"" + base)
                .replace("content=\"stream\"", "content=\"poll\"");
        return new Console.Page(200, type(INDEX), html.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] read(String file) {
        try (InputStream in = Assets.class.getResourceAsStream("web/" + file)) {
            if (in == null) {
                throw new IllegalStateException("the console's jar lacks " + file);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String type(String file) {
        String ending = file.substring(file.lastIndexOf('.') + 1);
        return switch (ending) {
            case "html" -> "text/html;charset=utf-8";
            case "css" -> "text/css;charset=utf-8";
            case "js" -> "text/javascript;charset=utf-8";
            case "svg" -> "image/svg+xml";
            default -> throw new IllegalArgumentException(file);
        };
    }
}
