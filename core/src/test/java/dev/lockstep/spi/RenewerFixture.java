package dev.lockstep.spi;

import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A renewer on a virtual clock, and an engine that answers, fails or keeps silent as a test says. */
abstract class RenewerFixture {
    static final Duration TTL = Contexts.TTL;
    static final Duration PERIOD = TTL.dividedBy(3);

    final VirtualScheduler time = new VirtualScheduler();
    final List<List<Item>> sent = new ArrayList<>();
    final List<CompletableFuture<Collection<Item>>> unanswered = new ArrayList<>();
    final Set<Item> gone = new HashSet<>();
    boolean answering = true;

    @Nullable
    RuntimeException failure;

    final Renewer<Item> renewer = new Renewer<>(Contexts.of("client", time), 10, LossReason.REVOKED, this::renew);

    final CompletableFuture<Collection<Item>> renew(List<Item> batch) {
        sent.add(batch);
        CompletableFuture<Collection<Item>> reply = new CompletableFuture<>();
        if (failure != null) {
            reply.completeExceptionally(failure);
        } else if (answering) {
            reply.complete(gone);
        } else {
            unanswered.add(reply);
        }
        return reply;
    }

    final Item item() {
        return new Item(Renewer.deadline(time.nanoTime(), TTL));
    }

    final Item registered() {
        Item item = item();
        renewer.register(item);
        return item;
    }

    static class Item implements Renewable {
        long validUntilNanos;

        @Nullable
        LossReason lost;

        Item(long validUntilNanos) {
            this.validUntilNanos = validUntilNanos;
        }

        @Override
        public long validUntilNanos() {
            return validUntilNanos;
        }

        @Override
        public void renewedUntil(long deadlineNanos) {
            validUntilNanos = deadlineNanos;
        }

        @Override
        public void signalLost(LossReason reason) {
            lost = reason;
        }
    }
}
