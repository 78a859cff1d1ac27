package dev.lockstep.architecture.offending.internal;

/** What nobody should see. */
public class Secret {}
