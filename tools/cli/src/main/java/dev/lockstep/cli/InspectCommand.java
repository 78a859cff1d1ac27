package dev.lockstep.cli;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tells who holds a lock and who waits for it. */
@Command(name = "inspect", description = "Tells who holds a lock, and who waits for it.")
final class InspectCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Override
    public Integer call() {
        LockInfo info;
        try (LockClient client = engine.connect()) {
            info = client.inspect(name);
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.write(LockInfos.toJson(info)));
        } else if (info.holders().isEmpty() && info.waiters().isEmpty()) {
            out.println("free: nobody holds it, and nobody waits for it");
        } else {
            TextTable table =
                    new TextTable("ROLE", "MODE", "TOKEN", "LEFT", "CLIENT", "HOST", "PID", "THREAD", "SINCE");
            info.holders().forEach(entry -> add(table, "holder", entry));
            info.waiters().forEach(entry -> add(table, "waiter", entry));
            table.print(out);
        }
        return ExitCodes.OK;
    }

    private static void add(TextTable table, String role, LockInfo.Entry entry) {
        HolderInfo who = entry.holder();
        table.add(
                role,
                LockInfos.mode(entry) + (who.sticky() ? ", sticky" : ""),
                LockInfos.token(entry),
                LockInfos.remaining(entry),
                who.client(),
                who.host(),
                who.pid(),
                who.thread(),
                who.since());
    }
}
