package dev.lockstep.torture;

/**
 * Something that the report shows in a picture.
 *
 * @param lock the number of the lock
 * @param at when it happened
 * @param text what happened
 */
record Incident(int lock, long at, String text) {}
