package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.Permit;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.semaphore.SimPermits;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Permits: at most so many valid ones, each with a slot of its own, tokens that rise for each slot, and none that leaks. A call for
 * several has all of them or none.
 */
final class SemaphoreHistory extends RecipeWorld {
    private final int permits;
    private final DistributedSemaphore[] semaphores;
    private final long[] lastTokens;
    private final List<Call> calls = new ArrayList<>();
    private boolean finishing;

    SemaphoreHistory(long seed, boolean recording) {
        super(seed, recording);
        permits = 1 + world.below(3);
        lastTokens = new long[permits];
        LockOptions options = world.chance(50) ? LockOptions.defaults().fair() : LockOptions.defaults();
        semaphores = new DistributedSemaphore[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            semaphores[i] = clients[i].semaphore(NAME, permits, options);
        }
    }

    @Override
    void act(int node) {
        Call any = calls.isEmpty() ? null : calls.get(world.below(calls.size()));
        if (any != null && any.node == nodes[node] && world.chance(60)) {
            any.act();
        } else {
            calls.add(new Call(node));
        }
    }

    @Override
    void finish() {
        finishing = true;
        List.copyOf(calls).forEach(Call::close);
    }

    @Override
    void checkServed() {
        for (Call call : calls) {
            if (!call.future.isDone()) {
                world.violate("L: call " + call.number + " still waits though nothing stands in its way");
            }
        }
        int available = observer.semaphore(NAME, permits).availablePermits();
        if (available != permits) {
            world.violate("L: " + available + " of " + permits + " permits are free though nobody has one: "
                    + observer.inspect(NAME));
        }
    }

    @Override
    void leave() {
        // Nothing is left to leave.
    }

    private final class Call {
        private final int number = calls.size() + 1;
        private final Node node;
        private final int count;
        private final CompletableFuture<Permit> future;
        private @Nullable Permit permit;
        private boolean closed;
        private int losses;

        Call(int index) {
            this.node = nodes[index];
            count = world.chance(30) ? 1 + world.below(permits) : 1;
            world.trace("acquire", node.index, number, count);
            future = SimPermits.acquireAsync(semaphores[index], count);
            future.whenComplete(this::answered);
        }

        private void answered(@Nullable Permit given, @Nullable Throwable error) {
            if (given != null) {
                hold(given);
            } else if (!(error instanceof CancellationException) && !(error instanceof LockUnavailableException)) {
                world.violate("call " + number + " failed: " + error);
            }
        }

        private void hold(Permit given) {
            permit = given;
            given.onLost(reason -> losses++);
            if (given.isValid()) {
                check(given);
            }
            if (finishing || world.chance(70)) {
                world.after(world.time(finishing ? MILLI : 40 * MILLI), node, this::close);
            }
        }

        private void check(Permit given) {
            List<Integer> slots = given.slots();
            world.trace("has permits", node.index, number, slots.hashCode());
            if (slots.size() != count) {
                world.violate("A: call " + number + " wants " + count + " permits and has slots " + slots);
            }
            int valid = slots.size();
            for (Call other : calls) {
                Permit held = other == this || other.closed ? null : other.permit;
                if (held != null && held.isValid()) {
                    valid += held.slots().size();
                    if (!Collections.disjoint(held.slots(), slots)) {
                        world.violate("S: calls " + number + " and " + other.number + " have slots " + slots + " and "
                                + held.slots());
                    }
                }
            }
            if (valid > permits) {
                world.violate("X: " + valid + " valid permits of " + permits);
            }
            slots.forEach(slot -> checkToken(given.token(), slot));
        }

        private void checkToken(long token, int slot) {
            if (slot < 0 || slot >= permits) {
                world.violate("S: slot " + slot + " of " + permits);
            } else if (token <= lastTokens[slot]) {
                world.violate("T: token " + token + " of slot " + slot + " came after " + lastTokens[slot]);
            } else {
                lastTokens[slot] = token;
            }
        }

        void act() {
            Permit held = permit;
            if (held == null) {
                cancel();
            } else if (!held.isValid() && !closed) {
                world.after(5 * MILLI, node, () -> {
                    if (losses != 1) {
                        world.violate("call " + number + " was notified " + losses + " times of its loss");
                    }
                });
                close();
            } else {
                close();
            }
        }

        void close() {
            Permit held = permit;
            if (held == null || closed) {
                return;
            }
            closed = true;
            if (world.chance(20)) {
                cancelNext();
            }
            world.trace("close", node.index, number, 0);
            boolean before = held.isValid();
            held.closeAsync().whenComplete((done, error) -> {
                Throwable cause = error instanceof CompletionException ? error.getCause() : error;
                if (cause == null ? losses > 0 : !isExpected(cause)) {
                    world.violate("call " + number + " was released with " + losses + " losses: " + cause);
                }
            });
            if (held.isValid()) {
                world.violate("call " + number + " is valid after its close, and was before: " + before);
            }
        }

        /** Cancels who is likely to be next, at about the moment at which it is granted what is released here. */
        private void cancelNext() {
            for (Call other : calls) {
                if (other.permit == null && !other.future.isDone()) {
                    world.after(world.time(2 * MILLI), other.node, other::cancel);
                    return;
                }
            }
        }

        private void cancel() {
            world.trace("cancel", node.index, number, 0);
            future.cancel(false);
        }

        private boolean isExpected(Throwable cause) {
            return cause instanceof LockLostException || cause instanceof ReleaseNotConfirmedException;
        }
    }
}
