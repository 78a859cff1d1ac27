package dev.lockstep.cli;

import java.util.OptionalInt;

/** The work of a demo's processes with the number in the ledger. */
enum Job {
    /** Sells one of the items that are left. */
    SELL {
        @Override
        OptionalInt next(int left) {
            return left <= 0 ? OptionalInt.empty() : OptionalInt.of(left - 1);
        }
    },

    /** Draws the next order number. */
    DRAW {
        @Override
        OptionalInt next(int last) {
            return OptionalInt.of(last + 1);
        }
    };

    /** The number to write after the one that was read; empty if there is nothing left. */
    abstract OptionalInt next(int number);
}
