package dev.lockstep.cli;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.cli.Namespaces.Located;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the locks that are held or waited for. */
@Command(name = "ls", description = "Lists the locks that are held or waited for.")
final class ListCommand implements Callable<Integer> {
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

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Override
    public Integer call() {
        List<Located> locks;
        String elsewhere = null;
        try (LockClient client = engine.connect()) {
            String own = engine.namespace();
            locks = namespaces.find(client, own, admin -> admin.list(prefix));
            if (locks.isEmpty()) {
                elsewhere = Namespaces.elsewhere(
                        client, own, admin -> !admin.list(prefix).isEmpty());
            }
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.write(locks.stream()
                    .map(lock -> LockInfos.toJson(lock, namespaces.all()))
                    .toList()));
        } else {
            TextTable table = namespaces.table("NAME", "MODE", "HOLDERS", "WAITERS", "TOKEN", "LEFT", "FIRST HOLDER");
            locks.forEach(lock -> add(table, lock));
            table.print(out);
        }
        if (elsewhere != null) {
            spec.commandLine()
                    .getErr()
                    .println("lockstep: nothing in namespace '" + engine.namespace() + "'; locks are in " + elsewhere
                            + " (see --namespace, --all-namespaces)");
        }
        return ExitCodes.OK;
    }

    private void add(TextTable table, Located located) {
        LockInfo lock = located.info();
        int holders = lock.holders().size();
        int waiters = lock.waiters().size();
        if (holders == 0) {
            table.add(namespaces.cells(located.namespace(), lock.name(), "-", holders, waiters, "-", "-", "-"));
        } else {
            LockInfo.Entry first = lock.holders().get(0);
            table.add(namespaces.cells(
                    located.namespace(),
                    lock.name(),
                    LockInfos.use(lock),
                    holders,
                    waiters,
                    LockInfos.token(first),
                    LockInfos.remaining(first),
                    first.holder().client()));
        }
    }
}
