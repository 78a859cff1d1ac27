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

/** Releases a lock by force. */
@Command(
        name = "release",
        description = {
            "Releases a lock by force; asks first. A client that acquires the lock meanwhile keeps it.",
            "The holder is notified of its loss, but may still be working: only tokens protect storage from it. Waiters"
                    + " keep their places and are served."
        })
final class ReleaseCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Option(names = "--force", description = "Required, because the lock is not released by its holder.")
    private boolean force;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask for confirmation.")
    private boolean yes;

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (!force) {
            throw new ParameterException(
                    spec.commandLine(), "only the holder can release a lock; to release it by force, use --force");
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

    /** Releases the holders that were shown, and no client that acquired the lock since. */
    private boolean release(LockClient client, LockInfo seen) {
        boolean released = false;
        for (LockInfo.Entry holder : seen.holders()) {
            released |= holder.token().isPresent()
                    && client.forceRelease(name, holder.token().getAsLong());
        }
        return released;
    }

    /**
     * If nothing was released, that is a success only if the lock is free: here, and in other namespaces that may be
     * meant.
     */
    private void refuseIfHeld(LockClient client) {
        LockInfo now = client.inspect(name);
        if (!now.isFree()) {
            LockInfo.Entry holder = now.holders().get(0);
            throw new Refusal(
                    ExitCodes.BUSY,
                    holder.token().isPresent()
                            ? "nothing was released: the lock has changed hands, and is held by " + holder.holder()
                            : "nothing was released: the engine has no token of the holder, so another could lose it."
                                    + " The lock is free when its holder releases it or its ttl has passed. Held by "
                                    + holder.holder());
        }
        String own = engine.namespace();
        Namespaces.Elsewhere elsewhere =
                Namespaces.look(client, own, admin -> !admin.inspect(name).isFree());
        if (elsewhere.found() != null) {
            throw new Refusal(
                    ExitCodes.BUSY,
                    "nothing was released: '" + name + "' is free in namespace '" + own + "', but held in "
                            + elsewhere.found() + " (see --namespace)");
        }
        if (elsewhere.unseen() > 0) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("'" + name + "' is free in namespace '" + own + "'; " + elsewhere.unseen()
                    + " other namespaces were not looked at (see inspect --all-namespaces)");
        }
    }

    private boolean isConfirmed(LockInfo info, PrintWriter out) throws IOException {
        if (!Terminal.isInteractive()) {
            throw new ParameterException(
                    spec.commandLine(), "cannot ask for confirmation without a terminal; use --yes");
        }
        info.holders().forEach(entry -> out.println("held by " + entry.holder()));
        out.print("Force-release it? [y/N] ");
        out.flush();
        BufferedReader answers = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        @Nullable String answer = answers.readLine();
        return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
    }
}
