package dev.lockstep.cli;

import picocli.CommandLine.Command;

/** The demos; the flash sale if none is named. */
@Command(
        name = "demo",
        description = {"Shows locks at work, in several real processes: the flash sale if no other demo is named."},
        synopsisSubcommandLabel = "[DEMO]",
        subcommands = {FlashSaleCommand.class, OrderNumbersCommand.class, PauseCommand.class})
final class DemoCommand extends FlashSale {}
