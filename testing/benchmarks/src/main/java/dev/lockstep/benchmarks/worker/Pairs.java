package dev.lockstep.benchmarks.worker;

import dev.lockstep.benchmarks.worker.Contender.Client;
import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Threads that acquire and release a lock for a while: each its own ({@code names=own}), or all the same one; some of the
 * time its shared half ({@code reads=95}, in percent), or after a rest ({@code idle=50}, in milliseconds). Work that
 * several threads may do at once, as with permits, is not guarded ({@code guarded=0}). The first part of that time does
 * not count: the first thread has the lock to itself until the others have started.
 */
final class Pairs {
    private Pairs() {}

    /** One part in so many comes before what counts. */
    private static final int LEAD_PART = 4;

    private record Share(long writes, long all, long torn, Samples samples) {}

    static Map<String, String> run(Order order, Client client) throws Exception {
        int threads = order.number("threads");
        boolean own = order.text("names").equals("own");
        long nanos = TimeUnit.MILLISECONDS.toNanos(order.number("millis"));
        int reads = order.number("reads", 0);
        int idle = order.number("idle", 0);
        boolean guarded = !own && order.number("guarded", 1) == 1;
        try (Guard guard = new Guard(Path.of(order.text("guard")))) {
            Crew crew = new Crew();
            List<Future<Share>> shares = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                String name = order.text("lock") + (own ? "-" + i : "");
                Mutex write = client.mutex(name);
                Mutex read = reads > 0 ? client.readMutex(name) : write;
                Guard shown = guarded ? guard : null;
                int seed = i;
                shares.add(crew.add(() -> work(write, read, reads, idle, shown, nanos, seed)));
            }
            long cpu = ProcessCpu.nanos();
            crew.go();
            crew.join();
            return answer(shares, nanos, guarded, ProcessCpu.nanos() - cpu);
        }
    }

    private static Share work(Mutex write, Mutex read, int reads, int idle, @Nullable Guard guard, long nanos, int seed)
            throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        Samples samples = new Samples();
        long written = 0;
        long all = 0;
        long torn = 0;
        long now = System.nanoTime();
        long begin = now + nanos / LEAD_PART;
        long end = begin + nanos;
        while (now - end < 0) {
            if (idle > 0) {
                Pause.millis(idle);
                now = System.nanoTime();
            }
            if (reads > 0 && random.nextInt(100) < reads) {
                read.lock();
                torn += guard == null || guard.read() ? 0 : 1;
                read.unlock();
            } else {
                write.lock();
                if (guard != null) {
                    guard.write();
                }
                write.unlock();
                written++;
            }
            all++;
            long after = System.nanoTime();
            if (after - begin >= 0 && after - end < 0) {
                samples.add(after - now);
            }
            now = after;
        }
        return new Share(written, all, torn, samples);
    }

    private static Map<String, String> answer(List<Future<Share>> shares, long nanos, boolean guarded, long cpuNanos)
            throws Exception {
        long operations = 0;
        long all = 0;
        long writes = 0;
        long torn = 0;
        long most = 0;
        long least = Long.MAX_VALUE;
        for (Future<Share> future : shares) {
            Share share = future.get();
            long counted = share.samples().count();
            operations += counted;
            all += share.all();
            writes += share.writes();
            torn += share.torn();
            most = Math.max(most, counted);
            least = Math.min(least, counted);
        }
        Samples first = shares.get(0).get().samples();
        return Map.of(
                "operations", Long.toString(operations),
                "all", Long.toString(all),
                "cpuMicros", Double.toString(cpuNanos / 1e3),
                "ops", Double.toString(operations / (nanos / 1e9)),
                "counted", Long.toString(guarded ? writes : 0),
                "torn", Long.toString(torn),
                "share", Double.toString(most / (double) Math.max(1, least)),
                "p50", Double.toString(first.millis(0.5)),
                "p99", Double.toString(first.millis(0.99)));
    }
}
