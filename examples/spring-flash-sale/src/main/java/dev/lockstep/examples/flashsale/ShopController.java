package dev.lockstep.examples.flashsale;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockNotAcquiredException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The shop over HTTP. The page of each instance also asks the others. */
@RestController
@CrossOrigin
class ShopController {
    /** The product. */
    static final String ITEM = "phone";

    private static final int SHOWN = 8;

    /** A placeholder for the lease, which Spring replaces. */
    @SuppressWarnings("NullAway")
    private static final Lease NO_LEASE = null;

    /**
     * The contents of the page.
     *
     * @param instance who answers
     * @param instances the addresses of all
     * @param engine where the locks are
     * @param left how many are left
     * @param sold how many were sold
     * @param sales by whom
     * @param holder who holds the lock; null if nobody does
     * @param waiting how many clients wait for it
     * @param latest the latest orders
     */
    record State(
            String instance,
            List<String> instances,
            String engine,
            int left,
            int sold,
            List<Orders.Sales> sales,
            @Nullable String holder,
            int waiting,
            List<Orders.Row> latest) {}

    private final Shop shop;
    private final Stock stock;
    private final Orders orders;
    private final LockClient locks;
    private final String instance;
    private final List<String> instances;

    ShopController(
            Shop shop,
            Stock stock,
            Orders orders,
            LockClient locks,
            @Value("${flashsale.instance}") String instance,
            @Value("${flashsale.instances}") List<String> instances) {
        this.shop = shop;
        this.stock = stock;
        this.orders = orders;
        this.locks = locks;
        this.instance = instance;
        this.instances = instances;
    }

    @Bean
    static ApplicationRunner tables(Schema schema, @Value("${flashsale.stock}") int amount) {
        return arguments -> schema.create(ITEM, amount);
    }

    // tag::flash-sale-web
    @PostMapping("/orders")
    Receipt buy(@RequestBody Order order) {
        return shop.buy(order, NO_LEASE);
    }

    @ExceptionHandler(LockNotAcquiredException.class)
    ResponseEntity<String> busy(LockNotAcquiredException e) { // nothing was sold: the buyer may try again
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body(e.getMessage());
    }
    // end::flash-sale-web

    @PostMapping("/restock")
    void restock(@RequestParam int amount) {
        shop.restock(ITEM, amount, NO_LEASE);
    }

    @GetMapping("/state")
    State state() {
        LockInfo lock = locks.inspect("stock:" + ITEM);
        return new State(
                instance,
                instances,
                locks.describe().product(),
                stock.left(ITEM),
                orders.count(),
                orders.byInstance(),
                lock.holders().isEmpty() ? null : lock.holders().get(0).holder().client(),
                lock.waiters().size(),
                orders.latest(SHOWN));
    }
}
