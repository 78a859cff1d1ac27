package dev.lockstep.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How a flash sale ended, without a lock and with one. */
record SaleReport(int stock, int buyers, long seed, CrewRun.Result bare, CrewRun.Result locked, boolean exact) {
    static String title(boolean locked) {
        return locked ? "with a lock" : "without a lock";
    }

    private int oversold(CrewRun.Result result) {
        return Math.max(0, result.journal().size() - stock);
    }

    void print(PrintWriter out) {
        out.println();
        TextTable table = new TextTable(
                "SALE", "PROCESS", "BUYERS", "SOLD", "TURNED AWAY", "OVERSOLD", "PER SECOND", "WAIT P50", "WAIT P99");
        add(table, bare);
        add(table, locked);
        table.print(out);
        out.println();
        out.println(String.format(
                "Without a lock %d of %d items were sold: %d too many.",
                bare.journal().size(), stock, oversold(bare)));
        if (exact) {
            out.println(String.format(
                    "With a lock %d: exact. No buyer was lost, and the tokens rose with every sale.",
                    locked.journal().size()));
        } else {
            out.println(String.format(
                    "With a lock %d: NOT EXACT. Please report this, with the seed %d and the engine.",
                    locked.journal().size(), seed));
        }
    }

    private void add(TextTable table, CrewRun.Result result) {
        double seconds = result.nanos() / 1e9;
        List<Long> waits = new ArrayList<>();
        int index = 0;
        for (CrewRun.Share share : result.shares()) {
            index++;
            waits.addAll(share.waits);
            row(
                    table,
                    result.locked(),
                    index + (share.dead ? " (killed)" : ""),
                    share.got,
                    share.turnedAway,
                    "",
                    seconds,
                    new Waits(share.waits));
        }
        int sold = result.journal().size();
        row(
                table,
                result.locked(),
                "all",
                sold,
                result.answered() - sold,
                Integer.toString(oversold(result)),
                seconds,
                new Waits(waits));
    }

    private static void row(
            TextTable table,
            boolean locked,
            String process,
            int sold,
            int turnedAway,
            String oversold,
            double seconds,
            Waits waits) {
        int served = sold + turnedAway;
        String rate = String.format(Locale.ROOT, "%.0f", served / seconds);
        table.add(
                title(locked),
                process,
                served,
                sold,
                turnedAway,
                oversold,
                rate,
                locked ? waits.shown(0.5) : "-",
                locked ? waits.shown(0.99) : "-");
    }

    Map<String, Object> toJson(String engine) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("engine", engine);
        answer.put("seed", seed);
        answer.put("stock", stock);
        answer.put("buyers", buyers);
        answer.put("unlocked", toJson(bare));
        answer.put("locked", toJson(locked));
        answer.put("exact", exact);
        return answer;
    }

    private Map<String, Object> toJson(CrewRun.Result result) {
        Map<String, Object> json = new LinkedHashMap<>();
        int sold = result.journal().size();
        json.put("sold", sold);
        json.put("turnedAway", result.answered() - sold);
        json.put("oversold", oversold(result));
        json.put("lost", buyers - result.answered());
        json.put("seconds", result.nanos() / 1e9);
        json.put("perSecond", result.answered() / (result.nanos() / 1e9));
        if (result.locked() && sold > 0) {
            json.put("tokensRise", result.tokensRise());
            json.put("firstToken", Long.toString(result.journal().get(0).token()));
            json.put("lastToken", Long.toString(result.journal().get(sold - 1).token()));
        }
        json.put("processes", result.shares().stream().map(this::toJson).toList());
        return json;
    }

    private Map<String, Object> toJson(CrewRun.Share share) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("sold", share.got);
        json.put("turnedAway", share.turnedAway);
        json.put("killed", share.dead);
        json.put("waitMillis", new Waits(share.waits).toJson());
        return json;
    }
}
