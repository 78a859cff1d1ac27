package dev.lockstep.cli;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import java.util.ArrayList;
import java.util.List;

/** The memory engine's description of itself: there is no server to look at. */
final class MemoryView implements EngineView {
    private final LockClient client;
    private final Labels labels;

    MemoryView(LockClient client, Labels labels) {
        this.client = client;
        this.labels = labels;
    }

    @Override
    public List<String> look() {
        LockInfo info = client.inspect(Explanation.LOCK);
        List<String> lines = new ArrayList<>();
        for (LockInfo.Entry entry : info.holders()) {
            long token = entry.token().orElse(0) >> Explanation.TOKEN_SHIFT;
            lines.add("holder  " + who(entry) + "  token " + labels.token(token));
        }
        info.waiters().forEach(entry -> lines.add("waiter  " + who(entry)));
        return lines;
    }

    private String who(LockInfo.Entry entry) {
        return labels.text(entry.holder().client()) + "  " + LockInfos.mode(entry);
    }

    @Override
    public void close() {
        client.close();
    }
}
