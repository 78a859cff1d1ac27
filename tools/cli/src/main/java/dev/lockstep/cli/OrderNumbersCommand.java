package dev.lockstep.cli;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Order numbers: several processes draw from one counter, without a lock and through a template with one. */
@Command(
        name = "order-numbers",
        description = {
            "Draws order numbers from one counter, in several processes: first without a lock, then with one.",
            "Without --url and LOCKSTEP_URL the lock is in a SQLite file. The exit code is 1 if the numbers that were drawn"
                    + " with the lock are not in order, without gap or duplicate."
        })
final class OrderNumbersCommand extends Demo {
    @Option(
            names = "--processes",
            paramLabel = "N",
            description = "Number of processes (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private int processes;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Threads in each process (default: ${DEFAULT-VALUE}).",
            defaultValue = "10")
    private int threads;

    @Option(
            names = "--numbers",
            paramLabel = "N",
            description = "How many numbers to draw in all (default: ${DEFAULT-VALUE}).",
            defaultValue = "600")
    private int numbers;

    @Override
    public Integer call() throws Exception {
        requireBetween(1, processes, 100, "--processes");
        requireBetween(1, threads, 1_000, "--threads");
        requireCount(1, numbers, "--numbers");
        return withCrew(processes, threads, this::drawTwice);
    }

    private int drawTwice(Crew crew) throws Exception {
        CrewRun.Result bare = draw(crew, false);
        CrewRun.Result locked = draw(crew, true);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("engine", engineName());
            answer.put("seed", seed());
            answer.put("unlocked", toJson(bare));
            answer.put("locked", toJson(locked));
            answer.put("exact", isInOrder(locked));
            out.println(Json.write(answer));
        } else {
            out.println();
            TextTable table = new TextTable(
                    "NUMBERS", "DRAWN", "DUPLICATES", "IN ORDER", "TOKENS RISE", "PER SECOND", "WAIT P50", "WAIT P99");
            add(table, bare);
            add(table, locked);
            table.print(out);
        }
        return isInOrder(locked) ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private CrewRun.Result draw(Crew crew, boolean locked) throws Exception {
        List<Integer> tasks = IntStream.range(0, numbers).boxed().toList();
        ProgressLine line = new ProgressLine(words(), live(), SaleReport.title(locked), numbers);
        CrewRun.Result result = new CrewRun(crew, Job.DRAW, locked, threads, tasks)
                .run(0, null, (answered, drawn) -> line.show(answered, "drawn"));
        line.end(result.answered(), duplicates(result) + " duplicates");
        return result;
    }

    private static List<Integer> drawn(CrewRun.Result result) {
        return result.journal().stream().map(Ledger.Entry::number).toList();
    }

    private static long duplicates(CrewRun.Result result) {
        return drawn(result).size() - drawn(result).stream().distinct().count();
    }

    private boolean isInOrder(CrewRun.Result result) {
        return drawn(result).equals(IntStream.rangeClosed(1, numbers).boxed().toList())
                && (!result.locked() || result.tokensRise());
    }

    private void add(TextTable table, CrewRun.Result result) {
        boolean locked = result.locked();
        Waits waits = waits(result);
        table.add(
                SaleReport.title(locked),
                result.journal().size(),
                duplicates(result),
                isInOrder(result) ? "yes" : "no",
                !locked ? "-" : result.tokensRise() ? "yes" : "no",
                String.format(Locale.ROOT, "%.0f", result.answered() / (result.nanos() / 1e9)),
                locked ? waits.shown(0.5) : "-",
                locked ? waits.shown(0.99) : "-");
    }

    private static Waits waits(CrewRun.Result result) {
        return new Waits(
                result.shares().stream().flatMap(share -> share.waits.stream()).toList());
    }

    private Map<String, Object> toJson(CrewRun.Result result) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("drawn", result.journal().size());
        json.put("duplicates", duplicates(result));
        json.put("inOrder", isInOrder(result));
        json.put("perSecond", result.answered() / (result.nanos() / 1e9));
        if (result.locked()) {
            json.put("tokensRise", result.tokensRise());
            json.put("waitMillis", waits(result).toJson());
        }
        return json;
    }
}
