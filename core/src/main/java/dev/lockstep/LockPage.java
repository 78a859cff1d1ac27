package dev.lockstep;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Some of the locks of a namespace, and where to continue. Immutable. Backends make it; later versions may add to it.
 *
 * @see LockAdmin#list(String, String, int)
 */
public final class LockPage {
    private final List<LockInfo> locks;
    private final Optional<String> next;

    private LockPage(List<LockInfo> locks, Optional<String> next) {
        this.locks = List.copyOf(locks);
        this.next = Objects.requireNonNull(next, "next");
    }

    /**
     * Makes the last page, for backends.
     *
     * @param locks see {@link #locks()}
     * @return an immutable copy
     */
    public static LockPage last(List<LockInfo> locks) {
        return new LockPage(locks, Optional.empty());
    }

    /**
     * Makes a page after which there may be more, for backends.
     *
     * @param locks see {@link #locks()}
     * @param next see {@link #next()}; not empty
     * @return an immutable copy
     */
    public static LockPage of(List<LockInfo> locks, String next) {
        return new LockPage(locks, Optional.of(next));
    }

    /**
     * Makes a page with other locks that ends at the same place, for backends.
     *
     * @param others see {@link #locks()}
     * @return a copy
     */
    public LockPage withLocks(List<LockInfo> others) {
        return new LockPage(others, next);
    }

    /**
     * Shows the locks of this page.
     *
     * @return the locks, in the engine's order; possibly none although there is a next page
     */
    public List<LockInfo> locks() {
        return locks;
    }

    /**
     * Says where the next page begins.
     *
     * @return a cursor for {@link LockAdmin#list(String, String, int)}; empty if this is the last page
     */
    public Optional<String> next() {
        return next;
    }

    @Override
    public String toString() {
        return "LockPage[locks=" + locks
                + next.map(cursor -> ", next=" + cursor).orElse("") + "]";
    }
}
