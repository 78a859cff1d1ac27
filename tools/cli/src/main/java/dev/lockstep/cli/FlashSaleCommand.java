package dev.lockstep.cli;

import picocli.CommandLine.Command;

/** The flash sale as a command with its own name. */
@Command(
        name = "flash-sale",
        description = {
            "Sells a limited stock from several processes: first without a lock, then with one.",
            "Without --url and LOCKSTEP_URL the lock is in a SQLite file, so that no server is needed. The exit code is 1"
                    + " if the sale with the lock is not exact."
        })
final class FlashSaleCommand extends FlashSale {}
