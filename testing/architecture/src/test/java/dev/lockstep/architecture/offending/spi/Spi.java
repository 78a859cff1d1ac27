package dev.lockstep.architecture.offending.spi;

import dev.lockstep.architecture.offending.internal.Secret;

/** An SPI whose parent is internal. */
public class Spi extends Secret {}
