package dev.lockstep.cli;

import dev.lockstep.LockListener;
import dev.lockstep.LockObserver;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts what a client does, under the names of the meters of lockstep-micrometer. Safe for use by many threads. */
final class MeterCounts implements LockObserver {
    private final LongAdder holds = new LongAdder();
    private final LongAdder handOffs = new LongAdder();
    private final LongAdder requests = new LongAdder();

    private final CallObserver each = new CallObserver() {
        @Override
        public void holdEnded(HoldEnd end) {
            holds.increment();
        }
    };

    @Override
    public CallObserver callStarted(Call call) {
        return each;
    }

    @Override
    public void handedOff(LockListener.HandedOff event) {
        handOffs.increment();
    }

    @Override
    public void requestEnded(Request request) {
        requests.increment();
    }

    Map<String, Object> toJson() {
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("lockstep.lock.handoffs", handOffs.sum());
        counts.put("lockstep.lock.hold", holds.sum());
        counts.put("lockstep.engine.request", requests.sum());
        return counts;
    }
}
