package dev.lockstep.docs.snippets;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.scheduling.annotation.Scheduled;

/** ShedLock's code and ours. */
final class FromShedLock {
    private FromShedLock() {}

    record Theirs(Runnable work) {
        // tag::shedlock-theirs
        @Scheduled(cron = "0 0 3 * * *")
        @SchedulerLock(name = "nightly-report", lockAtMostFor = "30m", lockAtLeastFor = "1m")
        public void nightlyReport() {
            work.run();
        }
        // end::shedlock-theirs
    }

    record Ours(LockClient locks, Runnable work) {
        // tag::shedlock-ours
        @Scheduled(cron = "0 0 3 * * *")
        public void nightlyReport() {
            LockOptions atLeast = LockOptions.defaults().minHold(Duration.ofMinutes(1));
            Optional<Lease> mine = locks.lock("nightly-report", atLeast).tryAcquire();
            if (mine.isPresent()) {
                try (Lease lease = mine.get()) { // renewed as long as the work takes
                    work.run();
                }
            }
        }
        // end::shedlock-ours
    }
}
