package dev.lockstep.examples.flashsale;

import java.util.UUID;

/**
 * The order of a buyer.
 *
 * @param id chosen by the buyer, who sends the same order again if there was no answer
 * @param item what to buy, one piece of it
 * @param buyer who buys
 */
public record Order(UUID id, String item, String buyer) {}
