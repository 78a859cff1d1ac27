package dev.lockstep.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/** A picture of one lock for a while: its waiters, its holders, until when they were certain, and what was broken. */
final class Timeline {
    private static final int WIDTH = 960;
    private static final int LEFT = 90;
    private static final int ROW = 26;
    private static final int TOP = 34;
    private static final int MOST = 400;

    private final History history;
    private final Incident moment;
    private final long from;
    private final long until;
    private final List<Integer> sections = new ArrayList<>();
    private final List<Integer> clients;
    private final List<Long> tokens;

    Timeline(History history, Incident moment, long radiusNanos) {
        this.history = history;
        this.moment = moment;
        this.from = moment.at() - radiusNanos;
        this.until = moment.at() + radiusNanos;
        TreeSet<Integer> itsClients = new TreeSet<>();
        TreeSet<Long> itsTokens = new TreeSet<>();
        for (int section = 0; section < history.size() && sections.size() < MOST; section++) {
            if (history.lock(section) == moment.lock() && history.wasEntered(section) && isInside(section)) {
                sections.add(section);
                itsClients.add(history.client(section));
                itsTokens.add(history.token(section));
            }
        }
        itsTokens.remove(0L);
        clients = List.copyOf(itsClients);
        tokens = List.copyOf(itsTokens);
    }

    private boolean isInside(int section) {
        return end(section) >= from && history.entered(section) <= until;
    }

    private long end(int section) {
        return Math.max(history.exited(section), Math.max(history.certain(section), history.entered(section)));
    }

    String svg() {
        int height = TOP + ROW * Math.max(1, clients.size()) + 24;
        StringBuilder svg = new StringBuilder();
        add(
                svg,
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"timeline of lock %d\">",
                WIDTH,
                height,
                moment.lock());
        faults(svg, height);
        for (int row = 0; row < clients.size(); row++) {
            add(svg, "<text x=\"4\" y=\"%d\">client %d</text>", TOP + row * ROW + 17, clients.get(row));
        }
        sections.forEach(section -> section(svg, section));
        double at = x(moment.at());
        add(svg, "<line class=\"now\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", at, at, TOP - 4, height - 20);
        add(svg, "<text class=\"axis\" x=\"%d\" y=\"%d\">%.3f s</text>", LEFT, height - 5, from / 1e9);
        add(svg, "<text class=\"axis\" x=\"%.1f\" y=\"%d\">%.3f s</text>", at, height - 5, moment.at() / 1e9);
        add(
                svg,
                "<text class=\"axis\" text-anchor=\"end\" x=\"%d\" y=\"%d\">%.3f s</text>",
                WIDTH - 4,
                height - 5,
                until / 1e9);
        return svg.append("</svg>").toString();
    }

    private void faults(StringBuilder svg, int height) {
        for (FaultWindow fault : history.faults()) {
            if (fault.until() >= from && fault.from() <= until) {
                double left = x(fault.from());
                add(
                        svg,
                        "<rect class=\"fault\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"/>",
                        left,
                        Math.max(2, x(fault.until()) - left),
                        height - 20);
                add(
                        svg,
                        "<text class=\"fault\" x=\"%.1f\" y=\"14\">%s, %s</text>",
                        left + 3,
                        Page.escape(fault.kind()),
                        Page.escape(fault.target()));
            }
        }
    }

    private void section(StringBuilder svg, int section) {
        int y = TOP + clients.indexOf(history.client(section)) * ROW + 4;
        String kind = history.isShared(section) ? "reader" : "writer";
        double asked = x(history.asked(section));
        double entered = x(history.entered(section));
        double certain = x(Math.max(history.entered(section), history.certain(section)));
        double exited = x(end(section));
        String token = history.token(section) == 0 ? "" : "t" + (tokens.indexOf(history.token(section)) + 1);
        add(svg, "<g><title>%s %d, token %d %s</title>", kind, section, history.token(section), token);
        add(svg, "<line class=\"wait\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", asked, entered, y + 9, y + 9);
        add(
                svg,
                "<rect class=\"late\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"18\"/>",
                certain,
                y,
                Math.max(0.5, exited - certain));
        add(
                svg,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"18\"/>",
                kind,
                entered,
                y,
                Math.max(1.5, certain - entered));
        if (exited - entered > 22) {
            add(svg, "<text class=\"token\" x=\"%.1f\" y=\"%d\">%s</text>", entered + 2, y + 13, token);
        }
        svg.append("</g>");
    }

    private double x(long stamp) {
        double part = (double) (Math.max(from, Math.min(until, stamp)) - from) / (until - from);
        return LEFT + part * (WIDTH - LEFT - 4);
    }

    private static void add(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
