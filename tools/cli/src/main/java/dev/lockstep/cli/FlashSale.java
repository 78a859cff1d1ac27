package dev.lockstep.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flash sale: several processes sell a limited stock, without a lock and with one. */
abstract class FlashSale extends Demo {
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
            defaultValue = "8")
    private int threads;

    @Option(
            names = "--stock",
            paramLabel = "N",
            description = "Number of items for sale (default: ${DEFAULT-VALUE}).",
            defaultValue = "100")
    private int stock;

    @Option(
            names = "--buyers",
            paramLabel = "N",
            description = "Number of buyers; each wants one item (default: ${DEFAULT-VALUE}).",
            defaultValue = "600")
    private int buyers;

    @Option(names = "--kill", description = "Kill one process during the sale with the lock.")
    private boolean kill;

    @Override
    public Integer call() throws Exception {
        requireBetween(kill ? 2 : 1, processes, 100, "--processes");
        requireBetween(1, threads, 1_000, "--threads");
        requireCount(0, stock, "--stock");
        requireCount(1, buyers, "--buyers");
        return withCrew(processes, threads, this::sellTwice);
    }

    private int sellTwice(Crew crew) throws Exception {
        CrewRun.Result bare = sell(crew, false);
        CrewRun.Result locked = sell(crew, true);
        boolean exact = isExact(locked);
        SaleReport report = new SaleReport(stock, buyers, seed(), bare, locked, exact);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.write(report.toJson(engineName())));
        } else {
            report.print(out);
        }
        return exact ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private CrewRun.Result sell(Crew crew, boolean locked) throws Exception {
        List<Integer> tasks = new ArrayList<>(IntStream.range(0, buyers).boxed().toList());
        Collections.shuffle(tasks, new Random(seed()));
        ProgressLine line = new ProgressLine(words(), live(), SaleReport.title(locked), buyers);
        @Nullable Integer killAt = locked && kill ? Integer.valueOf(Math.min(stock, buyers) / 2) : null;
        CrewRun.Result result = new CrewRun(crew, Job.SELL, locked, threads, tasks)
                .run(stock, killAt, (answered, sold) -> line.show(answered, "sold " + sold));
        line.end(result.answered(), "sold " + result.journal().size());
        return result;
    }

    /** Everything was sold that could be, each item once, in order, with rising tokens; and every buyer has an answer. */
    private boolean isExact(CrewRun.Result result) {
        List<Integer> numbers =
                result.journal().stream().map(Ledger.Entry::number).toList();
        List<Integer> wanted = IntStream.rangeClosed(1, Math.min(stock, buyers))
                .mapToObj(sold -> stock - sold)
                .toList();
        return numbers.equals(wanted) && result.tokensRise() && result.answered() == buyers;
    }
}
