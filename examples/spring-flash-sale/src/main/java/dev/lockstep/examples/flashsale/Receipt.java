package dev.lockstep.examples.flashsale;

/** The answer to an order. */
public enum Receipt {
    /** The buyer has bought one. */
    SOLD,
    /** Nothing was left. */
    SOLD_OUT
}
