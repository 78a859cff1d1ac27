package dev.lockstep.internal.turnstile;

import dev.lockstep.LossReason;
import java.util.function.Consumer;

/**
 * An action for a loss that runs in the thread that finds the loss. Users' actions run on the client's executor, which
 * other users' code may keep busy.
 */
@FunctionalInterface
public interface ImmediateLossAction extends Consumer<LossReason> {}
