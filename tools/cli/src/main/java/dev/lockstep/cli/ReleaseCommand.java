package dev.lockstep.cli;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Takes a lock away from whoever holds it. */
@Command(
        name = "release",
        description = {
            "Takes a lock away from whoever holds it; asks first. One that gets the lock meanwhile keeps it.",
            "The holder is notified of its loss, but may still be at work: only tokens protect storage from it. Waiters stay"
                    + " and are served."
        })
final class ReleaseCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Option(names = "--force", description = "Needed: a lock is given back by its holder, or by force.")
    private boolean force;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask.")
    private boolean yes;

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (!force) {
            throw new ParameterException(
                    spec.commandLine(), "only its holder can give a lock back; to take it away, say --force");
        }
        PrintWriter out = spec.commandLine().getOut();
        try (LockClient client = engine.connect()) {
            LockInfo info = client.inspect(name);
            if (!yes && !info.holders().isEmpty() && !isConfirmed(info, out)) {
                throw new Refusal(ExitCodes.FAILED, "nothing was done");
            }
            boolean released = release(client, info);
            if (json) {
                Map<String, Object> answer = new LinkedHashMap<>();
                answer.put("name", name);
                answer.put("released", released);
                out.println(Json.write(answer));
            }
            if (!released) {
                refuseIfHeld(client);
            }
            if (!json) {
                out.println(released ? "released" : "free already: nobody held it");
            }
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
        return ExitCodes.OK;
    }

    /** Takes the lock from those who were seen to hold it, and from nobody who came since. */
    private boolean release(LockClient client, LockInfo seen) {
        boolean released = false;
        for (LockInfo.Entry holder : seen.holders()) {
            released |= holder.token().isPresent()
                    && client.forceRelease(name, holder.token().getAsLong());
        }
        return released;
    }

    /** Nothing to do is a success only if the lock is free: here, and in other namespaces, where it may be meant. */
    private void refuseIfHeld(LockClient client) {
        LockInfo now = client.inspect(name);
        if (!now.isFree()) {
            throw new Refusal(
                    ExitCodes.BUSY,
                    "nothing was released: the lock has changed hands, and is held by "
                            + now.holders().get(0).holder());
        }
        String own = engine.namespace();
        String elsewhere =
                Namespaces.elsewhere(client, own, admin -> !admin.inspect(name).isFree());
        if (elsewhere != null) {
            throw new Refusal(
                    ExitCodes.BUSY,
                    "nothing was released: '" + name + "' is free in namespace '" + own + "', but held in " + elsewhere
                            + " (see --namespace)");
        }
    }

    private boolean isConfirmed(LockInfo info, PrintWriter out) throws IOException {
        if (!Terminal.isInteractive()) {
            throw new ParameterException(spec.commandLine(), "nobody is here to be asked; say --yes");
        }
        info.holders().forEach(entry -> out.println("held by " + entry.holder()));
        out.print("Take it away? [y/N] ");
        out.flush();
        BufferedReader answers = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        @Nullable String answer = answers.readLine();
        return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
    }
}
