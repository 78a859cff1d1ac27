package dev.lockstep.examples;

import dev.lockstep.LockTemplate;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A flash sale: 3 processes with 8 threads each sell 100 items to 600 buyers. A sale reads the stock and writes it back
 * less one; two that do so at once sell the same item twice.
 */
public final class FlashSale {
    private static final int PROCESSES = 3;
    private static final int THREADS = 8;
    private static final int STOCK = 100;
    private static final int BUYERS = 600;

    private FlashSale() {}

    /** How a sale ended. */
    record Result(int sold, int turnedAway) {
        int oversold() {
            return sold - STOCK;
        }
    }

    /**
     * Holds the sale twice, without a lock and with one.
     *
     * @param args the engine's URL; {@code memory:flash-sale} if there is none
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        String url = args.length > 0 ? args[0] : "memory:flash-sale";
        print("without a lock", sell(url, false));
        print("with a lock", sell(url, true));
    }

    static Result sell(String url, boolean locked) throws InterruptedException {
        Row stock = new Row(STOCK);
        AtomicInteger buyers = new AtomicInteger(BUYERS);
        AtomicInteger sold = new AtomicInteger();
        AtomicInteger turnedAway = new AtomicInteger();
        Processes.run(url, PROCESSES, THREADS, locks -> {
            LockTemplate template =
                    locks.template().waitAtMost(Duration.ofSeconds(30)).fenced();
            while (buyers.getAndDecrement() > 0) {
                boolean served = locked ? sellOneLocked(stock, template) : sellOne(stock);
                (served ? sold : turnedAway).incrementAndGet();
            }
        });
        return new Result(sold.get(), turnedAway.get());
    }

    private static boolean sellOne(Row stock) {
        int left = stock.read();
        if (left == 0) {
            return false;
        }
        stock.write(left - 1);
        return true;
    }

    private static boolean sellOneLocked(Row stock, LockTemplate template) throws InterruptedException {
        // tag::sale
        return template.execute("stock:phone", lease -> {
            int left = stock.read(lease.token()); // from here on, no earlier holder can write
            if (left == 0) {
                return false;
            }
            stock.write(left - 1, lease.token());
            return true; // sold, whatever becomes of the lock now: the template is fenced()
        });
        // end::sale
    }

    private static void print(String how, Result result) {
        System.out.printf(
                "%-15s stock %d, buyers %d: sold %d, turned away %d, oversold %d%n",
                how + ":", STOCK, BUYERS, result.sold(), result.turnedAway(), result.oversold());
    }
}
