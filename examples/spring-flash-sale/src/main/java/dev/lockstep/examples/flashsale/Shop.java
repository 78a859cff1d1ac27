package dev.lockstep.examples.flashsale;

import dev.lockstep.Lease;
import dev.lockstep.annotation.Locked;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Sells. The stock is read, and then written less one: two that do so at once would sell the same piece twice. */
@Service
public class Shop {
    private final Stock stock;
    private final Orders orders;

    Shop(Stock stock, Orders orders) {
        this.stock = stock;
        this.orders = orders;
    }

    /**
     * Sells one piece.
     *
     * @param order what is bought
     * @param lease passed by Spring; callers pass null
     * @return whether it was sold
     */
    // tag::flash-sale-shop
    @Locked(name = "stock", key = "#order.item", waitAtMost = "10s", fenced = true) // in all instances
    @Transactional // begins after the lock is acquired, and ends before it is released
    public Receipt buy(Order order, Lease lease) {
        if (orders.contains(order.id())) {
            return Receipt.SOLD; // the buyer got no answer the first time, and asks again
        }
        int left = stock.read(order.item(), lease.token()); // from here on, no earlier holder can write
        if (left == 0) {
            return Receipt.SOLD_OUT;
        }
        stock.write(order.item(), left - 1, lease.token());
        orders.add(order, lease.token());
        return Receipt.SOLD;
    }
    // end::flash-sale-shop

    /**
     * Begins the sale again.
     *
     * @param item what is sold
     * @param amount how many there are
     * @param lease passed by Spring; callers pass null
     */
    @Locked(name = "stock", key = "#item", waitAtMost = "10s", fenced = true)
    @Transactional
    public void restock(String item, int amount, Lease lease) {
        stock.read(item, lease.token());
        stock.write(item, amount, lease.token());
        orders.clear();
    }
}
