package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Fleet.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The tables of docs/scale.md that come from a simulation ({@link Fleet}), in both languages. */
final class Scale {
    static final List<Integer> SIZES = List.of(1_000, 10_000, 100_000, 1_000_000);

    private static final long SEED = 1;
    private static final int TOGETHER_MILLIS = 1_000;
    private static final String BEGIN = "<!-- simulated by: testing/benchmarks/run scale -->\n";
    private static final String END = "<!-- end of simulated -->";

    private Scale() {}

    /** A language of the page. */
    enum Language {
        ENGLISH(
                "scale.md",
                List.of(
                        "simulated",
                        "clients",
                        "requests/s",
                        "busiest second",
                        "busiest second, started together",
                        "of one core",
                        "slowest renewal",
                        "requests in 5 s after an outage",
                        "slowest renewal then",
                        "holds lost"),
                "overloaded"),
        CHINESE(
                "zh/scale.md",
                List.of("模拟", "客户端", "每秒请求数", "最忙的一秒", "同时启动时最忙的一秒", "占一个核", "最慢的续约", "故障后 5 秒内的请求", "此时最慢的续约", "丢锁"),
                "过载");

        final String page;
        private final List<String> head;
        private final String overloaded;

        Language(String page, List<String> head, String overloaded) {
            this.page = page;
            this.head = head;
            this.overloaded = overloaded;
        }
    }

    /**
     * Some clients of an engine.
     *
     * @param renewals of which engine
     * @param clients how many
     * @param cores what their requests need, calculated
     * @param spread the simulation if they started at different times; null if one core is not enough for them
     * @param busiestTogether the most requests in a second if all started within a second
     */
    record Row(
            Renewals renewals,
            int clients,
            double cores,
            @Nullable Outcome spread,
            int busiestTogether) {
        List<String> cells(Language language) {
            List<String> cells = new ArrayList<>();
            cells.add(renewals.engine.title);
            cells.add(String.format(Locale.ROOT, "%,d", clients));
            if (spread == null) {
                cells.addAll(List.of(language.overloaded, "", "", Measure.human(100 * cores) + " %", "", "", "", ""));
                return cells;
            }
            cells.add(Measure.human(spread.perSecond()));
            cells.add(Measure.human(spread.busiest()));
            cells.add(Measure.human(busiestTogether));
            cells.add(Measure.human(100 * spread.core()) + " %");
            cells.add(seconds(spread.delayMillis()));
            if (!renewals.outageTested) {
                cells.addAll(List.of("–", "–", "–"));
                return cells;
            }
            cells.add(Measure.human(spread.afterwards()));
            cells.add(spread.lost() == clients ? "–" : seconds(spread.outageDelayMillis()));
            cells.add(spread.lost() == 0 ? "0" : Measure.human(spread.lost()));
            return cells;
        }

        private static String seconds(double millis) {
            return millis < 1_000 ? Measure.human(millis) + " ms" : Measure.human(millis / 1_000) + " s";
        }
    }

    /** Simulates; the processor time of a request is that of W2 in the results that are stored beside the page. */
    static List<Row> rows(Path docs) throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Renewals renewals : Renewals.values()) {
            double micros = microsPerRequest(docs, renewals);
            for (int size : SIZES) {
                double cores = size * renewals.perSecond() * micros / 1e6;
                boolean enough = cores <= 1;
                rows.add(new Row(
                        renewals,
                        size,
                        cores,
                        enough ? new Fleet(renewals, size, micros, renewals.periodMillis, SEED).run() : null,
                        enough ? new Fleet(renewals, size, micros, TOGETHER_MILLIS, SEED).busiestSecond() : 0));
            }
        }
        return rows;
    }

    static double microsPerRequest(Path docs, Renewals renewals) throws IOException {
        Path file = docs.resolve("benchmarks").resolve(renewals.engine.id() + ".json");
        Results.Cell cell = Results.read(file)
                .flatMap(results -> results.sheet(Workload.W2))
                .flatMap(sheet -> sheet.cell(Entrant.LOCKSTEP))
                .orElseThrow(() -> new IOException(file + " has no results of W2"));
        double each = cell.spread(Measure.EACH).median();
        return cell.spread(Measure.SERVER).median() / (Double.isNaN(each) ? 2 : each); // PostgreSQL counts too late
    }

    static String table(List<Row> rows, Language language) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(language.head);
        rows.forEach(row -> lines.add(row.cells(language)));
        return Tables.grid(lines);
    }

    /** Writes the table into both pages; returns it. */
    static String refresh(Path docs) throws IOException {
        List<Row> rows = rows(docs);
        for (Language language : Language.values()) {
            Path page = docs.resolve(language.page);
            Results.write(page, replaced(Files.readString(page), table(rows, language)));
        }
        return table(rows, Language.ENGLISH);
    }

    /** The table of a page. */
    static String shown(String page) {
        return page.substring(page.indexOf(BEGIN) + BEGIN.length(), page.indexOf(END));
    }

    private static String replaced(String page, String table) throws IOException {
        int begin = page.indexOf(BEGIN);
        int end = page.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IOException("The page has no place for the table, between " + BEGIN + " and " + END);
        }
        return page.substring(0, begin + BEGIN.length()) + table + page.substring(end);
    }
}
