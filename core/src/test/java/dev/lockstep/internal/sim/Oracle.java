package dev.lockstep.internal.sim;

import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.sim.LockServer.Entry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The rules that must always hold: X no overlap inside a lease, T tokens rise, U an answer is what it says, L waiters
 * are served, Z nothing is left, and the bounds of hand-off. The letters are those of the list of faults.
 */
final class Oracle implements LockServer.Watcher {
    private static final long HAND_OFF_NANOS = 10 * World.MILLI;

    /** The turnstile's 64, and some for calls that may not wait: each has a claim of its own, which may be served first. */
    private static final int MAX_BYPASS = 64 + 4;

    /** How long a grant may be kept that nobody uses: until the timer that ends leases has run. */
    private static final long IDLE = 5 * World.MILLI;

    private final World world;
    private final Setup setup;

    /** All calls of the history, in the order in which they began. */
    final List<Call> calls = new ArrayList<>();

    /** Calls that hold, or may. */
    final List<Call> holding = new ArrayList<>();

    private final int[][] fairHolds;
    private int begun;
    boolean operatorEndedGrants;

    Oracle(World world, Setup setup) {
        this.world = world;
        this.setup = setup;
        this.fairHolds = new int[setup.nodes][setup.names];
    }

    // ---------------------------------------------------------------- X

    /** The server has granted a lock: any other holder must know by now that its hold is over. */
    @Override
    public void granted(Entry entry) {
        int name = entry.lock.index;
        for (int i = 0; i < holding.size(); i++) {
            Call other = holding.get(i);
            if (other.closed
                    || other.node == entry.claim.node()
                    || other.server() != entry.claim.backend.server
                    || (other.names & 1 << name) == 0
                    || other.mode == LockMode.SHARED && entry.mode == LockMode.SHARED
                    || other.backend.isDeceived(name)) {
                continue;
            }
            if (other.node.isPaused()) {
                if (world.chance(50) && isValidAlone(other)) {
                    world.violate("X: the server granted name " + name + " while paused node " + other.node.index
                            + " believes in its lease");
                }
            } else if (isValidAlone(other)) {
                world.violate("X: the server granted name " + name + " while node " + other.node.index
                        + " believes in its lease");
            } else if (other.listens && other.toldLosses == 0 && setup.directExecutor && !other.isMulti()) {
                world.violate("N: node " + other.node.index + " was not notified of its loss before the next grant");
            }
        }
    }

    /** Whether a hold is valid; of several locks none is when one is lost, which says nothing about the others. */
    private static boolean isValidAlone(Call call) {
        return call.isValid();
    }

    /** A call got its lock. */
    void begins(Call call) {
        call.done = true;
        call.order = ++begun;
        call.begun = world.now();
        boolean valid = call.isValid();
        world.trace("begins", call.node.index, call.number, valid ? 1 : 0);
        if (valid) {
            for (int name = 0; name < setup.names; name++) {
                if ((call.names & 1 << name) != 0
                        && !call.backend.isDeceived(name)
                        && !call.server().holds(call.node, name, call.mode)) {
                    world.violate("X: node " + call.node.index + " has a lease of name " + name
                            + " that the server does not know");
                }
            }
            for (int i = 0; i < holding.size(); i++) {
                Call other = holding.get(i);
                // A client that has two grants of one engine knows itself that one of them is over.
                boolean knows = other.backend == call.backend || !isDeceived(call, other);
                if (!other.closed && other.conflictsWith(call) && other.isValid() && knows) {
                    world.violate("X: calls " + other.number + " and " + call.number + " hold at the same time");
                }
            }
        } else if (setup.directExecutor && !call.isMulti() && !call.backend.isLosing() && call.thread == null) {
            world.violate("X: call " + call.number + " was handed a lock that it had lost already");
        }
        if (call.isFallback() && !setup.faults) {
            world.violate("call " + call.number + " was served in fallback though nothing went wrong");
        }
        holding.add(call);
        Arrays.fill(call.node.idleSince, -1);
        if (!call.isMulti()) {
            checkOrder(call);
            if (setup.isFair(call.name())) {
                checkFair(call);
            } else if (setup.directExecutor && valid) {
                checkBudget(call); // a hold that is over already may have been on a grant that is gone
            }
        }
    }

    private static boolean isDeceived(Call one, Call other) {
        int both = one.names & other.names;
        for (int name = 0; both >> name != 0; name++) {
            if ((both & 1 << name) != 0 && (one.backend.isDeceived(name) || other.backend.isDeceived(name))) {
                return true;
            }
        }
        return false;
    }

    // ---------------------------------------------------------------- bounds

    /** No call is overtaken forever: the first in the queue may be, so many times. */
    private void checkOrder(Call call) {
        for (int i = 0; i < calls.size(); i++) {
            Call first = calls.get(i);
            if (first.isWaiting() && first.node == call.node && (first.names & call.names) != 0) {
                // A call for several locks may wait in another queue; a late executor hides which calls have been
                // served.
                boolean known = !first.isMulti() && (first.thread != null || setup.directExecutor && !isTimeUp(first));
                if (known && first.number < call.number && ++first.bypassed > MAX_BYPASS) {
                    world.violate("call " + first.number + " was bypassed more than " + MAX_BYPASS + " times");
                }
                return;
            }
        }
    }

    /** Whether an asynchronous call may have given up already, and wait only until nothing is left of it. */
    private boolean isTimeUp(Call call) {
        return call.wait > 0 && world.now() - call.start >= call.wait - Setup.DRIFT;
    }

    private void checkFair(Call call) {
        if (call.isSync() && call.mode == LockMode.SHARED) {
            return; // may read under its own write lock
        }
        if (++fairHolds[call.node.index][call.name()] > call.node.told[call.name()]) {
            world.violate("a fair lock was handed off");
        }
    }

    private void checkBudget(Call call) {
        SimGrant grant = call.backend.onlyGrant(call.name());
        if (grant == null || grant.uses++ == 0 || setup.reportsWanted && !grant.wasWanted()) {
            return;
        }
        if (call.answeredInside || call.thread != null) {
            return; // seen when the call has returned, or its thread has looked, which may be after the next hold began
        }
        if (grant.handOffs >= call.handOff) {
            world.violate(
                    "a wanted grant was handed off " + (grant.handOffs + 1) + " times, allowed are " + call.handOff);
        }
        if (grant.handOffs++ == 0) {
            grant.firstHandOff = world.now();
        } else if (world.now() - grant.firstHandOff >= HAND_OFF_NANOS) {
            world.violate("a wanted grant was handed off for longer than 10 ms");
        }
    }

    // ---------------------------------------------------------------- T

    /** A token was asked for. */
    void drew(Call call, int name, long token) {
        world.trace("token", call.node.index, call.number, token);
        if (call.tokens[name] != 0 && call.tokens[name] != token) {
            world.violate("T: the token of a hold changed");
        }
        call.tokens[name] = token;
        if (call.isFallback()) {
            world.violate("T: call " + call.number + " has a token in fallback");
        }
        if ((token & 1023) == 0) {
            world.violate("T: more tokens were drawn of a grant than it has");
        }
        for (int i = 0; i < calls.size(); i++) {
            Call other = calls.get(i);
            long theirs = other.tokens[name];
            if (other == call || theirs == 0 || !other.conflictsWith(call)) {
                continue;
            }
            // A client that does not know yet that an operator ended its grant hands on an old one.
            boolean comparable = !operatorEndedGrants || theirs >> 10 == token >> 10;
            Call earlier = other.order < call.order ? other : call;
            boolean shared = theirs == token && earlier.downgraded;
            if (comparable && !shared && (earlier == other ? theirs >= token : theirs <= token)) {
                world.violate(
                        "T: hold " + other.order + " has token " + theirs + ", hold " + call.order + " has " + token);
            }
        }
    }

    // ---------------------------------------------------------------- U

    /** A call ended without a lock. */
    void ended(Call call, @Nullable Throwable error) {
        call.done = true;
        isOver(call, error == null || call.thread != null && call.cancelled);
        if (call.isMulti()) {
            Arrays.fill(call.node.idleSince, -1); // it may have had one of them for a moment
        }
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        world.trace(cause == null ? "busy" : cause.getClass().getSimpleName(), call.node.index, call.number, 0);
        if (cause == null) {
            checkBusy(call);
        } else if (cause instanceof CancellationException) {
            if (!call.cancelled) {
                world.violate("a call was cancelled by nobody");
            }
        } else if (cause instanceof LockUnavailableException) {
            if (!mayBeUnavailable(call)) {
                world.violate("U: call " + call.number + " got the answer that the engine is unreachable: " + cause);
            }
        } else {
            world.violate("call " + call.number + " failed with " + cause);
        }
    }

    private void checkBusy(Call call) {
        if (call.wait == Call.FOREVER) {
            world.violate("a call without a deadline ended with neither a lock nor an error");
        }
        checkKnown(call);
        checkSomebodyIsThere(call);
        if (call.isMulti() || operatorEndedGrants) {
            return;
        }
        if (!wasFree(call.home, call) || call.node.other != null && !wasFree(call.node.other, call)) {
            return;
        }
        for (int i = 0; i < calls.size(); i++) {
            Call other = calls.get(i);
            if (other != call && other.node == call.node && (other.names & call.names) != 0 && !other.closed) {
                return;
            }
        }
        world.violate("U: call " + call.number + " was refused a lock that was free all the time");
    }

    /**
     * A call that may not wait is refused only if another caller holds the lock, or waits for it in a call that has not
     * returned.
     */
    private void checkSomebodyIsThere(Call call) {
        if (call.wait != 0
                || call.isMulti()
                || setup.faults
                || setup.fallback != Setup.Fallback.NONE
                || setup.isSticky(call.name())) {
            return;
        }
        for (int i = 0; i < calls.size(); i++) {
            Call other = calls.get(i);
            if (other != call && (other.names & call.names) != 0 && other.livesUntil >= call.start) {
                return;
            }
        }
        world.violate("U: call " + call.number + " was refused though nobody holds the lock or waits for it");
    }

    /**
     * A call has returned, or its hold has ended.
     *
     * @param certain whether it says that nothing is left of it; a call that failed or was cancelled does not
     */
    private void isOver(Call call, boolean certain) {
        call.livesUntil = world.now() + (certain ? 0 : 2 * Setup.REQUEST_TIMEOUT);
    }

    /** A call must not get the answer that another holds the lock because its own client has not released it. */
    private void checkKnown(Call call) {
        if (!setup.directExecutor || setup.fallback != Setup.Fallback.NONE || call.isMulti()) {
            return;
        }
        SimBackend backend = call.backend;
        if (!backend.wasUsed(call.name(), call.start)) {
            world.violate("U: call " + call.number + " was refused because of another holder, and nobody was asked");
        }
        long decided = call.wait > 0 ? Math.min(call.start + call.wait, world.now()) : world.now();
        if (backend.hasUnconfirmed(call.name(), decided) && !backend.hadGrant(call.name(), decided)) {
            world.violate(
                    "U: call " + call.number + " was refused because of another holder, which may be its own client");
        }
    }

    private static boolean wasFree(SimBackend backend, Call call) {
        LockServer.Lock lock = backend.server.locks[call.name()];
        return lock.freeSince >= 0 && lock.freeSince <= call.start;
    }

    private boolean mayBeUnavailable(Call call) {
        if (setup.fallback != Setup.Fallback.NONE && setup.faults) {
            return true; // two engines, either of which may be gone
        }
        if (call.backend.closed || call.backend.closing || !setup.directExecutor || call.isMulti()) {
            return true;
        }
        if (call.thread != null && call.wait == Call.FOREVER) {
            return true; // reported before the thread looked
        }
        if (call.backend.hadTrouble(call.name(), call.start)) {
            return true;
        }
        long now = call.node.nanoTime();
        long start = now - (world.now() - call.start);
        long contact = call.backend.contactBefore();
        long owed = call.backend.owedSince(call.name());
        if (owed >= 0 && world.now() - owed >= Setup.REQUEST_TIMEOUT) {
            return call.wait != Call.FOREVER || world.now() - call.start >= Setup.REQUEST_TIMEOUT;
        }
        if (call.wait == 0) {
            return world.now() - call.start >= Setup.REQUEST_TIMEOUT;
        }
        if (call.wait != Call.FOREVER) {
            if (world.now() - call.start < Setup.REQUEST_TIMEOUT) {
                return false; // the engine's first answer is waited for, however short the wait is
            }
            long resumed = call.node.resumedAt();
            if (resumed > call.start && world.now() - resumed < Setup.REQUEST_TIMEOUT) {
                return true; // what the engine is asked after a pause is not answered yet
            }
            // A claim that was left after the call came had been available to it.
            boolean unasked = owed >= 0 && owed <= call.start && !call.backend.isUsed(call.name());
            return contact - start < 0 || unasked || call.backend.isUnanswered(call.name(), call.start);
        }
        long since = contact - start > 0 ? contact : start;
        return now - since >= Setup.REQUEST_TIMEOUT;
    }

    // ---------------------------------------------------------------- loss

    void toldLoss(Call call, LossReason reason) {
        world.trace("lost " + reason, call.node.index, call.number, 0);
        if (++call.toldLosses > 1) {
            world.violate("the loss of call " + call.number + " was reported twice");
        }
        if (call.givenBack) {
            world.violate("a loss was reported for a hold that was released");
        }
        if (call.isValid()) {
            world.violate("a hold whose loss was reported says that it is valid");
        }
        mayBeLost(call);
    }

    private void mayBeLost(Call call) {
        if (!setup.faults && call.leaseTime == 0 && !call.backend.closing) {
            world.violate("call " + call.number + " lost its lock though nothing went wrong");
        }
    }

    /** A hold was released, with this result. */
    void gaveBack(Call call, @Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        world.trace(cause == null ? "released" : cause.getClass().getSimpleName(), call.node.index, call.number, 1);
        isOver(call, cause == null);
        if (cause == null) {
            call.givenBack = true;
            if (call.toldLosses > 0) {
                world.violate("the loss of call " + call.number + " was reported, but not when it was released");
            }
        } else if (cause instanceof LockLostException) {
            mayBeLost(call);
        } else if (!(cause instanceof ReleaseNotConfirmedException && setup.faults)) {
            world.violate("releasing call " + call.number + " failed with " + cause);
        }
    }

    // ---------------------------------------------------------------- Z

    /** After every step: a call that waits has a claim under way, and an unused grant is released. */
    void checkStep(Node node) {
        if (!setup.directExecutor || !node.isOpen()) {
            return;
        }
        SimBackend backend = node.backend();
        SimBackend other = node.other;
        for (int name = 0; name < setup.names; name++) {
            if (backend.waiting[name] > 0 && !backend.isBusyWith(name) && (other == null || !other.isBusyWith(name))) {
                world.violate("L: node " + node.index + " waits for name " + name + " and has asked nobody for it");
            }
        }
        checkMaxHolds(node);
        checkHeldUp(node);
        List<SimGrant> grants = backend.grants;
        if (other != null && !other.grants.isEmpty()) {
            grants = new ArrayList<>(grants);
            grants.addAll(other.grants);
        }
        if (grants.isEmpty()) {
            Arrays.fill(node.idleSince, -1);
            return;
        }
        checkIdle(node, grants);
    }

    /** No call waits for long for what its own client has not released. */
    private void checkHeldUp(Node node) {
        if (setup.fallback != Setup.Fallback.NONE || node.isPaused()) {
            return;
        }
        SimBackend backend = node.backend();
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            long since = Math.max(call.start, node.resumedAt());
            if (call.node == node
                    && call.isWaiting()
                    && call.wait == Call.FOREVER
                    && !call.isMulti()
                    && call.home == backend
                    && world.now() - since > 2 * Setup.REQUEST_TIMEOUT
                    && !backend.wasUsed(call.name(), world.now() - 2 * Setup.REQUEST_TIMEOUT)) {
                world.violate("U: call " + call.number + " waits though nobody can be asked for it");
            }
        }
    }

    /** No hold outlives its maximum time, and listeners are notified even if nothing checks the hold. */
    private void checkMaxHolds(Node node) {
        for (int i = 0; i < holding.size(); i++) {
            Call call = holding.get(i);
            if (call.node != node || call.leaseTime == 0 || !call.isHolding() || node.isPaused()) {
                continue;
            }
            long over = world.now() - Math.max(call.begun + call.leaseTime, node.resumedAt());
            if (call.listens && over > IDLE && call.toldLosses == 0) {
                world.violate("N: call " + call.number + " was not notified that its maximum time is over");
            } else if (!call.listens && over >= 0 && call.isValid()) {
                world.violate("X: call " + call.number + " holds for longer than its maximum time");
            }
        }
    }

    private void checkIdle(Node node, List<SimGrant> grants) {
        for (int name = 0; name < setup.names; name++) {
            int users = 0;
            for (int i = 0; i < calls.size(); i++) {
                Call call = calls.get(i);
                boolean uses = call.isHolding() || call.isMulti() && !call.closed;
                if (call.node == node && (call.names & 1 << name) != 0 && uses) {
                    users++;
                }
            }
            int held = 0;
            int wanted = 0;
            for (int i = 0; i < grants.size(); i++) {
                SimGrant grant = grants.get(i);
                if (grant.name() == name && !grant.isDowngrading()) {
                    held++;
                    wanted += grant.isWanted() ? 1 : 0;
                }
            }
            long kept = setup.isSticky(name) && wanted <= users ? setup.sticky + IDLE : IDLE;
            if (held <= users || node.isPaused()) {
                node.idleSince[name] = -1;
            } else if (node.idleSince[name] < 0) {
                node.idleSince[name] = world.now();
            } else if (world.now() - node.idleSince[name] > kept) {
                world.violate("Z: node " + node.index + " keeps a grant of name " + name + " that nobody uses");
            }
        }
    }

    /** At the end: each claim was released exactly once, in the one right way. */
    void checkClaims(SimBackend backend) {
        for (SimClaim claim : backend.claims) {
            SimGrant grant = claim.grant;
            int releases = grant == null ? 0 : grant.releases;
            if (claim.busy ? releases > 0 : releases + claim.withdrawals != 1) {
                world.violate("Z: a claim of node " + backend.node.index + " for name " + claim.entry.lock.index
                        + " was withdrawn " + claim.withdrawals + " and released " + releases + " times");
            }
        }
    }

    void checkServer(LockServer server) {
        for (LockServer.Lock lock : server.locks) {
            if (lock.isUsed()) {
                world.violate("Z: the server still has " + lock.holders.size() + " holders and " + lock.queue.size()
                        + " waiters of name " + lock.index);
            }
        }
    }
}
