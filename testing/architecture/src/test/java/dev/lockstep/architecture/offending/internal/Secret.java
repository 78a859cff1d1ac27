package dev.lockstep.architecture.offending.internal;

/** A type that must stay hidden. */
public class Secret {}
