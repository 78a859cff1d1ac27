package dev.lockstep.cli;

import dev.lockstep.HolderInfo;
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

/** Shows who holds a lock and who waits for it. */
@Command(name = "inspect", description = "Shows who holds a lock, and who waits for it.")
final class InspectCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Mixin
    private Namespaces namespaces = new Namespaces();

    @Parameters(paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Override
    public Integer call() {
        List<Located> locks;
        String elsewhere = null;
        try (LockClient client = engine.connect()) {
            String own = engine.namespace();
            locks = namespaces.find(client, own, admin -> List.of(admin.inspect(name)));
            if (!namespaces.all() && !isUsed(locks.get(0).info())) {
                elsewhere = Namespaces.elsewhere(client, own, admin -> isUsed(admin.inspect(name)));
            }
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.write(
                    namespaces.all()
                            ? locks.stream()
                                    .filter(lock -> isUsed(lock.info()))
                                    .map(lock -> LockInfos.toJson(lock, true))
                                    .toList()
                            : LockInfos.toJson(locks.get(0).info())));
        } else if (locks.stream().noneMatch(lock -> isUsed(lock.info()))) {
            out.println("free: nobody holds it, and nobody waits for it");
        } else {
            TextTable table =
                    namespaces.table("ROLE", "MODE", "TOKEN", "LEFT", "CLIENT", "HOST", "PID", "THREAD", "SINCE");
            for (Located lock : locks) {
                lock.info().holders().forEach(entry -> add(table, lock, "holder", entry));
                lock.info().waiters().forEach(entry -> add(table, lock, "waiter", entry));
            }
            table.print(out);
        }
        if (elsewhere != null) {
            spec.commandLine()
                    .getErr()
                    .println("lockstep: free in namespace '" + engine.namespace() + "', but '" + name
                            + "' is held or waited for in " + elsewhere + " (see --namespace, --all-namespaces)");
        }
        return ExitCodes.OK;
    }

    private static boolean isUsed(LockInfo info) {
        return !info.holders().isEmpty() || !info.waiters().isEmpty();
    }

    private void add(TextTable table, Located lock, String role, LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        table.add(namespaces.cells(
                lock.namespace(),
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
