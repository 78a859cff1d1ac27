package dev.lockstep.architecture.offending.spi;

import java.util.concurrent.CompletionStage;

/** A turnstile's grant from an engine. */
public interface Grant {
    CompletionStage<Boolean> release();

    long token();
}
