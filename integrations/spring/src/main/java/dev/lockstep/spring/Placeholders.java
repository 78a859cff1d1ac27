package dev.lockstep.spring;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/**
 * The placeholders in annotations, such as {@code ${shop.name}}. While an application is prepared ahead of time, they have no
 * values: those are known where it will run. Immutable, safe for use by many threads.
 *
 * @param values where to ask for values; null ahead of time
 */
record Placeholders(@Nullable ConfigurableBeanFactory values) {
    /**
     * The placeholders of an application that runs, or that is prepared ahead of time, as a system property of Spring
     * says.
     */
    static Placeholders of(ConfigurableBeanFactory beans) {
        return new Placeholders(Boolean.getBoolean("spring.aot.processing") ? null : beans);
    }

    /** A text with the values of its placeholders; empty if they are not known yet. */
    String resolve(Method method, String attribute, String text) {
        if (values == null) {
            return text.contains("${") ? "" : text;
        }
        try {
            String resolved = values.resolveEmbeddedValue(text);
            return resolved == null ? "" : resolved;
        } catch (IllegalArgumentException e) {
            throw LockedMethod.mistake(method, attribute + ": " + e.getMessage());
        }
    }

    /** Whether a text is known only when the application runs. */
    boolean isLater(String text) {
        return values == null && text.contains("${");
    }
}
