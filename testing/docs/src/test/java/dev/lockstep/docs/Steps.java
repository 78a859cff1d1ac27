package dev.lockstep.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Puts what {@code ./lockstep explain} printed into the pages, in their language. A page has the place for it between two
 * comments; the text comes from {@code docs/engines/steps}, which is compared with real servers by the command's own tests.
 */
final class Steps {
    private static final String END = "<!-- end of steps -->";
    private static final Pattern PLACE =
            Pattern.compile("<!-- steps: ([a-z-]+) -->\\n(?:.*?" + END + "\\n)?", Pattern.DOTALL);
    private static final Pattern TITLE = Pattern.compile("^(\\d+)\\. (.*)$", Pattern.MULTILINE);

    /** Sentences of the command, and the same in Chinese. */
    private static final Map<String, String> CHINESE = new LinkedHashMap<>();

    static {
        CHINESE.put("(\\w) takes the lock as a reader \\((.*)\\)\\.", "$1 作为读者拿到锁（$2）。");
        CHINESE.put("(\\w) takes the lock as a writer \\((.*)\\)\\.", "$1 作为写者拿到锁（$2）。");
        CHINESE.put("(\\w) takes the lock \\((.*)\\)\\.", "$1 拿到锁（$2）。");
        CHINESE.put("(\\w) asks for it as a reader, and waits\\.", "$1 作为读者请求加锁，进入等待。");
        CHINESE.put("(\\w) asks for it as a writer, and waits\\.", "$1 作为写者请求加锁，进入等待。");
        CHINESE.put("(\\w) asks for it, and waits\\.", "$1 请求加锁，进入等待。");
        CHINESE.put("(\\w) releases it: (\\w) has it \\((.*)\\)\\.", "$1 释放：$2 拿到锁（$3）。");
        CHINESE.put("(\\w) releases it\\.", "$1 释放。");
        CHINESE.put("(\\w) takes a permit \\((.*)\\)\\.", "$1 拿到一个许可（$2）。");
        CHINESE.put("(\\w) asks for a permit, and waits\\.", "$1 请求许可，进入等待。");
        CHINESE.put("(\\w) asks for its slot: (\\d+)\\.", "$1 询问自己的槽位：$2。");
        CHINESE.put("(\\w) releases its permit: (\\w) has it \\((.*)\\)\\.", "$1 释放许可：$2 拿到它（$3）。");
        CHINESE.put("(\\w) releases its permit\\.", "$1 释放许可。");
        CHINESE.put("(\\w) stands, and leads \\((.*)\\)\\.", "$1 参选，当选（$2）。");
        CHINESE.put("(\\w) stands, and waits for its turn\\.", "$1 参选，等待轮到自己。");
        CHINESE.put("(\\w) closes: (\\w) leads \\((.*)\\)\\.", "$1 关闭：$2 当选（$3）。");
        CHINESE.put("(\\w) closes\\.", "$1 关闭。");
        CHINESE.put("All clients close\\.", "所有客户端关闭。");
    }

    private Steps() {}

    /** A page with what belongs into its places. */
    static String fill(String page, Path folder, boolean chinese) throws IOException {
        Matcher place = PLACE.matcher(page);
        StringBuilder filled = new StringBuilder();
        while (place.find()) {
            String name = place.group(1);
            String steps = steps(Files.readString(folder.resolve(name + ".md")), chinese);
            place.appendReplacement(
                    filled, Matcher.quoteReplacement("<!-- steps: " + name + " -->\n\n" + steps + "\n\n" + END + "\n"));
        }
        return place.appendTail(filled).toString();
    }

    /** The steps alone: the page has its own heading and introduction. */
    private static String steps(String output, boolean chinese) {
        String steps = output.substring(output.indexOf("\n1. ") + 1).strip();
        steps = steps.lines().map(String::stripTrailing).collect(Collectors.joining("\n"));
        return chinese ? TITLE.matcher(steps).replaceAll(title -> inChinese(title.group(1), title.group(2))) : steps;
    }

    private static String inChinese(String number, String title) {
        for (Map.Entry<String, String> sentence : CHINESE.entrySet()) {
            if (title.matches(sentence.getKey())) {
                return number + ". " + title.replaceFirst(sentence.getKey(), sentence.getValue());
            }
        }
        throw new IllegalArgumentException("No Chinese for: " + title);
    }
}
