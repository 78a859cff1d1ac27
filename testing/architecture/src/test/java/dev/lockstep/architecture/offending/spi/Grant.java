package dev.lockstep.architecture.offending.spi;

import java.util.concurrent.CompletionStage;

/** What a turnstile has from an engine. */
public interface Grant {
    CompletionStage<Boolean> release();

    long token();
}
