package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.LockInfo;
import dev.lockstep.Term;
import dev.lockstep.internal.election.Election;
import dev.lockstep.internal.election.TermRun;
import dev.lockstep.internal.turnstile.SimClients;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One candidate on each node: at most one valid term, rising terms, and a task at a time for each candidate. */
final class ElectionHistory extends RecipeWorld {
    private final Candidate[] candidates;
    private long lastTerm;
    private boolean finishing;

    ElectionHistory(long seed, boolean recording) {
        super(seed, recording);
        candidates = new Candidate[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            candidates[i] = new Candidate(i);
        }
    }

    @Override
    void act(int node) {
        candidates[node].act();
    }

    @Override
    void finish() {
        finishing = true;
        for (Candidate candidate : candidates) {
            if (candidate.running != null && candidate.interrupted) {
                candidate.returnsSoon(candidate.running);
            }
        }
    }

    @Override
    void checkServed() {
        int leaders = 0;
        for (Candidate candidate : candidates) {
            leaders += candidate.election.isLeader() ? 1 : 0;
        }
        LockInfo info = observer.inspect(NAME);
        if (leaders > 1) {
            world.violate("L: " + leaders + " lead at once: " + info);
        }
        for (Candidate candidate : candidates) {
            if (candidate.isForgotten(info)) {
                world.violate("L: candidate " + candidate.index + " neither leads nor stands");
            }
        }
    }

    @Override
    void leave() {
        for (Candidate candidate : candidates) {
            candidate.election.leave(true);
        }
    }

    private final class Candidate {
        private final int index;
        private final Node node;
        private final Election election;
        private @Nullable TermRun running;
        private boolean interrupted;
        private boolean stubborn;
        private boolean left;

        Candidate(int index) {
            this.index = index;
            this.node = nodes[index];
            this.election = SimClients.election(
                    clients[index],
                    NAME,
                    term -> {
                        throw new AssertionError("the history runs it");
                    },
                    run -> world.after(world.time(2 * MILLI), nodes[index], () -> begin(run)));
        }

        void act() {
            TermRun current = running;
            if (world.chance(5) && !left) {
                leaveEarly();
            } else if (current == null) {
                election.resign();
            } else if (world.chance(40)) {
                returns(current, null);
            } else if (world.chance(30)) {
                returns(current, new IllegalStateException("the task fails"));
            } else if (election.resign()) {
                world.trace("resign", node.index, 0, 0);
                if (election.isLeader()) {
                    world.violate("a candidate leads though it has resigned");
                }
                Term term = current.term();
                world.after(2 * TIMEOUT, node, () -> {
                    if (isWell(node, 2 * TIMEOUT) && term.isValid()) {
                        world.violate("term " + term.token() + " goes on though its candidate has resigned");
                    }
                });
            }
        }

        private void leaveEarly() {
            world.trace("leave", node.index, 0, 0);
            left = true;
            election.leave(true);
            world.after(4 * TIMEOUT, node, () -> {
                if (isWell(node, 4 * TIMEOUT) && running == null && isKnown(observer.inspect(NAME))) {
                    world.violate("Z: candidate " + index + " has left, and the engine knows it");
                }
            });
        }

        private void begin(TermRun run) {
            Term term = run.term();
            if (!run.begin(() -> interrupt(run))) {
                run.returned(null);
                return;
            }
            world.trace("task begins", node.index, 0, 0);
            if (running != null) {
                world.violate("candidate " + index + " has two tasks");
            }
            if (!term.isValid()) {
                world.violate("a task began in a term that was over");
            }
            for (Candidate other : candidates) {
                TermRun others = other == null || other == this ? null : other.running;
                if (others != null && others.term().isValid()) {
                    world.violate(
                            "X: terms " + term.token() + " and " + others.term().token() + " are valid at once");
                }
            }
            if (term.token() <= lastTerm) {
                world.violate("T: term " + term.token() + " came after " + lastTerm);
            }
            lastTerm = Math.max(lastTerm, term.token());
            running = run;
            interrupted = false;
            stubborn = !finishing && world.chance(20);
            term.onLost(reason -> world.after(5 * MILLI, node, () -> {
                if (running == run && !interrupted) {
                    world.violate("the task of term " + term.token() + " was not interrupted: " + reason);
                }
            }));
            if (world.chance(60)) {
                world.after(world.time(80 * MILLI), node, () -> returns(run, null));
            }
        }

        private void interrupt(TermRun run) {
            if (running == run) {
                interrupted = true;
                if (!stubborn || finishing) {
                    returnsSoon(run);
                }
            }
        }

        private void returnsSoon(TermRun run) {
            world.after(world.time(5 * MILLI), node, () -> returns(run, new InterruptedException()));
        }

        private void returns(TermRun run, @Nullable Throwable failure) {
            if (running == run) {
                world.trace("task returns", node.index, 0, 0);
                running = null;
                run.returned(failure);
            }
        }

        /** Whether it has no task, and the engine knows nothing of it. */
        private boolean isForgotten(LockInfo info) {
            return !left && running == null && !isKnown(info);
        }

        private boolean isKnown(LockInfo info) {
            String name = clients[index].name();
            return Stream.concat(info.holders().stream(), info.waiters().stream())
                    .anyMatch(entry -> entry.holder().client().equals(name));
        }
    }
}
