package dev.lockstep.torture;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Writes a report as one HTML page that needs nothing else. */
final class Page {
    private static final int MOST_PICTURES = 6;
    private static final String STYLE = """
            :root { color-scheme: light dark; --line: #8886; --red: #c92a2a; --green: #2b8a3e; }
            body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1000px; padding: 0 1rem; }
            table { border-collapse: collapse; margin: 1rem 0; }
            td, th { border-bottom: 1px solid var(--line); padding: .25rem .8rem .25rem 0; text-align: left; }
            .bad { color: var(--red); font-weight: 600; } .good { color: var(--green); font-weight: 600; }
            svg { border: 1px solid var(--line); display: block; margin: .5rem 0 1.5rem; width: 100%; }
            svg text { fill: currentColor; font: 11px system-ui, sans-serif; }
            svg rect.writer { fill: #3b6fb6; } svg rect.reader { fill: #2f9e8f; } svg rect.late { fill: #e8a33d; }
            svg rect.fault { fill: #c92a2a; opacity: .12; } svg text.fault { fill: var(--red); }
            svg line.wait { stroke: #8888; stroke-width: 1; } svg line.now { stroke: var(--red); stroke-dasharray: 3 3; }
            svg text.token { fill: #fff; } svg text.axis { opacity: .7; }
            """;

    private final Report report;

    Page(Report report) {
        this.report = report;
    }

    String write() {
        StringBuilder html = new StringBuilder("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        html.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        html.append("<title>Torture of ").append(escape(report.engine())).append("</title>");
        html.append("<style>\n").append(STYLE).append("</style></head><body>\n");
        html.append("<h1>Torture of ").append(escape(report.engine())).append("</h1>\n");
        html.append(
                report.holds()
                        ? "<p class=\"good\">All that the engine promises held.</p>\n"
                        : "<p class=\"bad\">A promise was broken.</p>\n");
        broken(html);
        html.append("<table>\n");
        report.rows().forEach(row -> row(html, "td", row.what(), row.count()));
        html.append("</table>\n<h2>Faults</h2>\n<table>\n");
        row(html, "th", "fault", "times", "in a hold", "leases ended", "until all was well, median", "longest");
        report.faultRows().forEach(cells -> row(html, "td", cells.toArray(String[]::new)));
        html.append("</table>\n");
        pictures(html);
        return html.append("</body></html>\n").toString();
    }

    private void broken(StringBuilder html) {
        List<String> lines = Stream.of(Rule.values())
                .flatMap(rule -> report.verdict().examples(rule).stream())
                .filter(each -> !each.isExcused())
                .map(Violation::line)
                .toList();
        if (!lines.isEmpty()) {
            html.append("<ul>\n");
            lines.forEach(line -> html.append("<li>").append(escape(line)).append("</li>\n"));
            html.append("</ul>\n");
        }
    }

    private void pictures(StringBuilder html) {
        List<Incident> moments = report.verdict().worst(MOST_PICTURES);
        html.append("<h2>The worst moments</h2>\n<p>");
        html.append(
                moments.isEmpty()
                        ? "None: nobody was ever inside with anybody else."
                        : "Blue: a writer inside, its lease certainly valid. Green: a reader. Amber: still inside, but the lease no"
                                + " longer certain. Grey: waiting. t1, t2 …: the tokens by their order. Red: what was broken.");
        html.append("</p>\n");
        for (Incident moment : moments) {
            html.append(String.format(Locale.ROOT, "<p>Lock %d: %s.</p>%n", moment.lock(), escape(moment.text())));
            html.append(new Timeline(report.history(), moment, report.ttlNanos() / 2).svg())
                    .append('\n');
        }
    }

    private static void row(StringBuilder html, String tag, String... cells) {
        html.append("<tr>");
        for (String cell : cells) {
            html.append('<')
                    .append(tag)
                    .append('>')
                    .append(escape(cell))
                    .append("</")
                    .append(tag)
                    .append('>');
        }
        html.append("</tr>\n");
    }

    static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
