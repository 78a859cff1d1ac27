package dev.lockstep.internal.client;

import dev.lockstep.LockAdmin;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.WaitGraph;
import dev.lockstep.internal.turnstile.Tokens;
import dev.lockstep.spi.AdminBackend;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The view and the actions of operators, in one namespace. */
final class NamespaceAdmin implements LockAdmin {
    private static final int PAGE = 1_000;

    private final EngineQuestions questions;
    private final String namespace;
    private final Supplier<AdminBackend> backend;

    /**
     * Makes one.
     *
     * @param backend supplies the backend of the namespace; each call asks for it again
     */
    NamespaceAdmin(EngineQuestions questions, String namespace, Supplier<AdminBackend> backend) {
        this.questions = questions;
        this.namespace = namespace;
        this.backend = backend;
    }

    String namespace() {
        return namespace;
    }

    @Override
    public LockInfo inspect(String name) {
        Names.requireLockName(name);
        return Tokens.scaled(
                questions.askAbout(name, "inspect", () -> backend.get().inspect(name)));
    }

    @Override
    public List<LockInfo> list(String prefix) {
        Objects.requireNonNull(prefix, "prefix");
        Map<String, LockInfo> found = new TreeMap<>();
        readPages(prefix, lock -> found.put(lock.name(), lock)); // one that is on several pages is shown once
        return List.copyOf(found.values());
    }

    @Override
    public LockPage list(String prefix, String cursor, int limit) {
        Objects.requireNonNull(prefix, "prefix");
        Objects.requireNonNull(cursor, "cursor");
        if (limit <= 0) {
            throw new IllegalArgumentException("The limit of a page must be positive, not " + limit + ".");
        }
        LockPage page = questions.ask(listing(prefix), () -> backend.get().list(prefix, cursor, limit));
        return page.withLocks(page.locks().stream().map(Tokens::scaled).toList());
    }

    /** Reads all locks, so that each page is answered within the request timeout, however many there are. */
    private void readPages(String prefix, Consumer<LockInfo> reader) {
        Optional<String> cursor = Optional.of("");
        while (cursor.isPresent()) {
            LockPage page = pageAfter(cursor.get(), prefix);
            page.locks().forEach(reader);
            cursor = page.next();
        }
    }

    private LockPage pageAfter(String cursor, String prefix) {
        try {
            return list(prefix, cursor, PAGE);
        } catch (IllegalArgumentException e) {
            if (cursor.isEmpty()) {
                throw e;
            }
            // A fallback has begun or ended: its pages have other cursors.
            throw new LockUnavailableException(
                    null, listing(prefix) + " failed: another engine is in use since the last page. Try again.", e);
        }
    }

    private String listing(String prefix) {
        return "Listing " + (prefix.isEmpty() ? "all locks" : "the locks that begin with '" + prefix + "'")
                + " in namespace '" + namespace + "'";
    }

    @Override
    public WaitGraph waitGraph(String prefix) {
        Map<String, LockInfo> found = new TreeMap<>();
        Deque<String> targets = new ArrayDeque<>();
        readPages(prefix, lock -> {
            if (isWaitedFor(lock)) {
                found.put(lock.name(), lock);
                targets.addAll(targets(lock));
            }
        });
        while (!targets.isEmpty()) {
            String name = targets.remove();
            if (!found.containsKey(name)) {
                LockInfo lock = inspect(name);
                found.put(name, lock);
                targets.addAll(targets(lock));
            }
        }
        return WaitGraph.of(found.values());
    }

    private static boolean isWaitedFor(LockInfo lock) {
        return !lock.waiters().isEmpty() || !targets(lock).isEmpty();
    }

    private static List<String> targets(LockInfo lock) {
        return lock.holders().stream()
                .flatMap(holder -> holder.waitsFor().stream())
                .map(LockInfo.Wait::lock)
                .toList();
    }

    @Override
    public boolean forceRelease(String name) {
        Names.requireLockName(name);
        return questions.askAbout(name, "forceRelease", () -> backend.get().forceRelease(name));
    }

    @Override
    public boolean forceRelease(String name, long token) {
        Names.requireLockName(name);
        if (token <= 0) {
            throw new IllegalArgumentException("Lock '" + name + "': a token must be positive, not " + token + ".");
        }
        long granted = token >> Tokens.SHIFT;
        return questions.askAbout(name, "forceRelease", () -> backend.get().forceRelease(name, granted));
    }
}
