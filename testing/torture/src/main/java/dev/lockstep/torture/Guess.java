package dev.lockstep.torture;

import dev.lockstep.servers.ServerException;
import java.util.function.BooleanSupplier;

/** Asks a server that may not answer. */
final class Guess {
    private Guess() {}

    /** The answer; false if there is none. */
    static boolean of(BooleanSupplier question) {
        try {
            return question.getAsBoolean();
        } catch (ServerException e) {
            return false;
        }
    }
}
