package dev.lockstep.cli;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.cli.Namespaces.Located;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows locks as they change hands. */
@Command(
        name = "watch",
        description = {
            "Shows who holds and who waits, repeatedly, until Ctrl-C.",
            "On a terminal the view is redrawn in place; otherwise, and with --json, changes are printed on new lines."
        })
final class WatchCommand implements Callable<Integer> {
    private static final String HOME = "\u001b[H";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_REST = "\u001b[J";
    private static final String CLEAR_ALL = "\u001b[2J";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Mixin
    private Namespaces namespaces = new Namespaces();

    @Parameters(
            arity = "0..1",
            paramLabel = "PREFIX",
            description = "Show only locks whose names have this prefix (default: all).",
            defaultValue = "")
    private String prefix = "";

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            description = "Time between refreshes (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private Duration interval = Duration.ofSeconds(1);

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "How many times to refresh (default: no limit).",
            defaultValue = "0")
    private int count;

    @Option(names = "--json", description = "Print a line of JSON for each change.")
    private boolean json;

    @Override
    public Integer call() {
        if (interval.isZero() || count < 0) {
            throw new ParameterException(spec.commandLine(), "--interval must be positive, and --count not negative");
        }
        PrintWriter out = spec.commandLine().getOut();
        boolean redraw = !json && Terminal.canRedraw();
        try (LockClient client = engine.connect()) {
            List<?> shown = List.of(0);
            for (int looks = 1; ; looks++) {
                List<Located> locks = namespaces.find(client, engine.namespace(), admin -> admin.list(prefix));
                String view = view(locks);
                List<?> state = locks.stream().map(WatchCommand::state).toList();
                if (redraw) {
                    out.print(
                            (looks == 1 ? CLEAR_ALL : "") + HOME + view.replace("\n", CLEAR_LINE + "\n") + CLEAR_REST);
                } else if (!state.equals(shown)) {
                    out.print(view);
                    shown = state;
                }
                if (looks == count || out.checkError()) {
                    return ExitCodes.OK;
                }
                LockSupport.parkNanos(interval.toNanos());
            }
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
    }

    /** Holders and waiters without their times, which differ each time even if nothing has changed. */
    private static List<?> state(Located located) {
        LockInfo lock = located.info();
        return List.of(
                located.namespace(),
                lock.name(),
                lock.holders().stream().map(WatchCommand::state).toList(),
                lock.waiters().stream().map(WatchCommand::state).toList());
    }

    private static List<?> state(LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        return List.of(
                entry.mode(),
                entry.permits(),
                entry.token(),
                who.client(),
                who.host(),
                who.pid(),
                who.thread(),
                who.sticky());
    }

    private String view(List<Located> locks) {
        if (json) {
            return Json.write(locks.stream()
                            .map(lock -> LockInfos.toJson(lock, namespaces.all()))
                            .toList())
                    + "\n";
        }
        TextTable table =
                namespaces.table("LOCK", "WHO", "MODE", "TOKEN", "LEFT", "CLIENT", "HOST", "PID", "THREAD", "SINCE");
        for (Located lock : locks) {
            lock.info().holders().forEach(entry -> add(table, lock, "holder", entry));
            int place = 0;
            for (LockInfo.Entry waiter : lock.info().waiters()) {
                place++;
                add(table, lock, "waiter " + place, waiter);
            }
        }
        StringWriter text = new StringWriter();
        PrintWriter lines = new PrintWriter(text);
        table.print(lines);
        lines.println("lockstep.lock.active " + count(locks, LockInfo::holders) + ", lockstep.lock.waiting "
                + count(locks, LockInfo::waiters)); // as the meters are called
        lines.flush();
        return text.toString().replace(System.lineSeparator(), "\n");
    }

    private static int count(List<Located> locks, Function<LockInfo, List<LockInfo.Entry>> which) {
        return locks.stream().mapToInt(lock -> which.apply(lock.info()).size()).sum();
    }

    private void add(TextTable table, Located lock, String role, LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        table.add(namespaces.cells(
                lock.namespace(),
                lock.info().name(),
                role,
                LockInfos.use(lock.info(), entry),
                LockInfos.token(entry),
                LockInfos.remaining(entry),
                who.client(),
                who.host(),
                who.pid(),
                who.thread(),
                who.since()));
    }
}
