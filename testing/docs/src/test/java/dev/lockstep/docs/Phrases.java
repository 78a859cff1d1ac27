package dev.lockstep.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Phrases that readers stumble over, each with what to write instead. The lists hold phrases that have been in the text; a
 * new one is added when it is found.
 */
final class Phrases {
    static final List<Phrase> ENGLISH = List.of(
            phrase("told|tells", "say who is notified, or what shows it: 'the holder is notified', 'the log says'"),
            phrase("bears?|borne|bearing", "'survives', 'tolerates', or how long it retries"),
            phrase(
                    "(?:give|gives|given|gave|giving)(?: \\w+){0,3} back",
                    "a lock is released; a connection is returned"),
            phrase("for ever", "'indefinitely', or 'forever'"),
            phrase("the like of", "'such as', or name the things"),
            phrase("(?:stand|stands|stood|standing) still", "a process 'is paused', a clock 'stops'"),
            phrase("anew", "'again'"),
            phrase("mended", "'fixed'"),
            phrase("swept|sweeps", "'cleaned up'"),
            phrase("but for", "'except for'"),
            phrase("as ever", "'as always', or leave it out"),
            phrase("is no reason", "say what happens: 'the call throws'"),
            phrase("what comes of", "'the result'"),
            phrase("what becomes of", "'what happens to'"),
            phrase("what nobody", "name it: 'unclaimed locks', 'unused rows'"),
            phrase("nobody who|somebody who|those who|all who|others who", "name them: callers, waiters, readers"),
            phrase("(?:can|could|cannot) be had|is had by", "'is available', 'achieves the same'"),
            phrase("sent away", "'rejected'"),
            phrase("on board", "'included'"),
            phrase("in the midst of", "'during'"),
            phrase("(?:show|shows|shown) (?:its|their|the|your|a) tokens?", "'present the token'"),
            phrase("go(?:es)? on (?:with|in the|trying)", "'continues with', 'continues in', 'keeps trying'"),
            phrase("connections? that stands?", "'an open connection'"),
            phrase("as good as (?:lost|gone)", "'counts as down'"),
            phrase("is worth a try", "say when it is tried"),
            phrase("has not the", "'does not have the'"),
            phrase("takes? (?:it|the lock|a lock|locks) away", "'revokes the lock', 'releases it by force'"),
            phrase("at the server", "'on the server'"),
            phrase("also (?:if|when|while|of)", "'even if', 'even while', 'and of'"),
            phrase("all the while", "'for the whole time'"),
            phrase("ever after", "'from then on'"),
            phrase("(?:to|for|by|than) who", "name the actor: 'by the client that'"),
            phrase("that comes? of", "'that follows', 'the result'"),
            phrase("kept is held", "'a retained lock is still held'"),
            phrase("the others do without", "'the remaining servers continue without it'"),
            phrase("what of each of", "'which test covers each of'"),
            phrase("that all processes see which use", "'shared by all processes that use'"),
            phrase("want one each", "'number of buyers'"),
            phrase("hardly fares?", "say whether it succeeds"),
            phrase("to be judged", "say what it is compared with"),
            phrase("has to be gone", "say what must have ended first"),
            phrase("whoever", "name the actor: 'a client that', 'the next caller'"),
            phrase("in vain", "say what did not happen: 'and does not get it'"),
            phrase("shall", "'must' or 'will'"),
            phrase("hence", "'so'"),
            phrase("of no (?:more )?use", "'useless', or say what it cannot do"),
            phrase("let in (?:any|no) more|lets? (?:it|them|all) go on", "'admitted', 'continues'"),
            phrase("nobody's way", "say that it blocks no other claim"),
            // A sentence that starts with a pronoun without a noun; questions may.
            new Phrase(
                    Pattern.compile("(?:^|(?<=[.;:?] ))(?:Who|who) [^.?;:]*[.;:]", Pattern.MULTILINE),
                    "name the actor: 'a client that', 'callers that'"));

    static final List<Phrase> CHINESE = List.of(
            verbatim("发锁", "授予锁"),
            verbatim("还锁", "释放锁"),
            verbatim("还回去", "锁写“释放”，连接写“归还”"),
            verbatim("归还故障", "释放故障前持有的锁"),
            verbatim("去处", "备用引擎"),
            verbatim("后备模式", "降级"),
            verbatim("降级为读", "写锁转读锁：“降级”只指 fallback"),
            verbatim("不能告知", "局限"),
            verbatim("一辈子", "整个生命周期"),
            verbatim("挂一台", "单台服务器故障"),
            verbatim("几点几分", "与当前时刻无关"),
            verbatim("死掉", "已崩溃"),
            verbatim("死者", "已崩溃的持有者"),
            verbatim("干活", "工作"),
            verbatim("死后", "崩溃后"),
            verbatim("手里拿走", "收回"),
            verbatim("强行释放", "强制释放"),
            verbatim("请求超时", "requestTimeout"),
            verbatim("续期", "续约"),
            verbatim("联锁", "multi-lock"),
            verbatim("多重锁", "multi-lock"),
            verbatim("领导者", "leader"),
            verbatim("看一眼", "检查一次"),
            verbatim("终究不是", "若发现还有其他等待者"));

    private static final Pattern FENCED = Pattern.compile("(?ms)^\\s*```.*?^\\s*```\\s*?$");
    private static final Pattern STEPS = Pattern.compile("(?s)<!-- steps: .*?<!-- end of steps -->");
    private static final Pattern JAVA_TEXT =
            Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*|\"\"\".*?\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*\"");

    private Phrases() {}

    /**
     * A phrase to avoid.
     *
     * @param pattern the pattern that finds it
     * @param instead the text to write instead
     */
    record Phrase(Pattern pattern, String instead) {}

    private static Phrase phrase(String regex, String instead) {
        return new Phrase(Pattern.compile("\\b(?:" + regex + ")\\b", Pattern.CASE_INSENSITIVE), instead);
    }

    private static Phrase verbatim(String text, String instead) {
        return new Phrase(Pattern.compile(Pattern.quote(text)), instead);
    }

    /** The sentences of a Markdown page: without code, and without what the {@code explain} command printed. */
    static String ofMarkdown(String page) {
        String prose = FENCED.matcher(STEPS.matcher(page).replaceAll("")).replaceAll("");
        return prose.replaceAll("`[^`]*`", "`…`").replaceAll("]\\([^)]*\\)", "]");
    }

    /** The sentences of a Java file: its comments and string literals. */
    static String ofJava(String source) {
        return JAVA_TEXT
                .matcher(source)
                .results()
                .map(text -> text.group().replaceAll("\\n\\s*(?:\\*|//)", "\n"))
                .collect(Collectors.joining("\n"));
    }

    /** The text of a file in another language, in one piece with its code; a comment of several lines is one text. */
    static String ofSource(String source) {
        return source.replaceAll("\\n\\s*(?:\\*|//|#|--)+", "\n");
    }

    /** Each place in a text where one of the phrases is, with the words around it and what to write instead. */
    static List<String> find(String text, List<Phrase> phrases) {
        String line = text.replaceAll("(?<!\\n)\\n(?!\\n)", " ").replaceAll(" +", " ");
        List<String> found = new ArrayList<>();
        for (Phrase phrase : phrases) {
            Matcher match = phrase.pattern().matcher(line);
            while (match.find()) {
                String around = line.substring(
                                Math.max(0, match.start() - 30), Math.min(line.length(), match.end() + 30))
                        .strip();
                found.add("…" + around + "…: instead of '" + match.group() + "' write " + phrase.instead());
            }
        }
        return found;
    }
}
