package dev.lockstep.cli;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import java.util.ArrayList;
import java.util.List;

/** Shows what a server has of a namespace, past the engine, as an operator would look. For one thread. */
interface EngineView extends AutoCloseable {
    /** What is there now, a line each; without names for what differs from run to run. */
    List<String> look() throws Exception;

    @Override
    default void close() throws Exception {}

    /** What the engine itself says, for one that has no server to look at. */
    static EngineView inspecting(LockClient client, String lockName, Labels labels) {
        return new EngineView() {
            @Override
            public List<String> look() {
                return lines(client.inspect(lockName), labels);
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private static List<String> lines(LockInfo info, Labels labels) {
        List<String> lines = new ArrayList<>();
        info.holders()
                .forEach(entry ->
                        lines.add("holder  " + labels.text(entry.holder().client()) + "  " + LockInfos.mode(entry)
                                + "  token " + labels.token(entry.token().orElse(0) >> Explanation.TOKEN_SHIFT)));
        info.waiters()
                .forEach(entry ->
                        lines.add("waiter  " + labels.text(entry.holder().client()) + "  " + LockInfos.mode(entry)));
        return lines;
    }
}
