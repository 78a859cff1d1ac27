package dev.lockstep.architecture.offending.internal.upper;

/** Is called from below. */
public class Called {}
