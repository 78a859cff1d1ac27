package dev.lockstep.torture;

/**
 * A moment that is worth a picture.
 *
 * @param lock the number of the lock
 * @param at when
 * @param text what was there to see
 */
record Moment(int lock, long at, String text) {}
