package dev.lockstep.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Lets a native image find the libraries that are present. Otherwise none would be: a lock would be released before the commit of
 * a caller's transaction, and before a {@code Mono} completes.
 */
final class LibraryHints implements RuntimeHintsRegistrar {
    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        for (Library library : Library.values()) {
            hints.reflection().registerTypeIfPresent(loader, library.type());
        }
    }
}
