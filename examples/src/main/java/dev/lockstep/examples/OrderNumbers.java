package dev.lockstep.examples;

import dev.lockstep.LockTemplate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Order numbers: 3 processes with 10 threads each draw 20 numbers a thread from one counter, through a template that
 * acquires and releases the lock.
 */
public final class OrderNumbers {
    private static final int PROCESSES = 3;
    private static final int THREADS = 10;
    private static final int NUMBERS_PER_THREAD = 20;

    private OrderNumbers() {}

    /**
     * Draws the numbers twice, without a lock and with one.
     *
     * @param args the engine's URL; {@code memory:order-numbers} if there is none
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        String url = args.length > 0 ? args[0] : "memory:order-numbers";
        print("without a lock", draw(url, false));
        print("with a lock", draw(url, true));
    }

    /** The numbers in the order in which they were drawn. */
    static List<Integer> draw(String url, boolean locked) throws InterruptedException {
        Row counter = new Row(0);
        ConcurrentLinkedQueue<Integer> drawn = new ConcurrentLinkedQueue<>();
        Processes.run(url, PROCESSES, THREADS, locks -> {
            LockTemplate template =
                    locks.template().waitAtMost(Duration.ofSeconds(30)).fenced();
            for (int i = 0; i < NUMBERS_PER_THREAD; i++) {
                if (locked) {
                    // tag::numbers
                    template.execute("order-numbers", lease -> {
                        int number = counter.read(lease.token()) + 1;
                        counter.write(number, lease.token());
                        return drawn.add(number);
                    });
                    // end::numbers
                } else {
                    int number = counter.read() + 1;
                    counter.write(number);
                    drawn.add(number);
                }
            }
        });
        return List.copyOf(drawn);
    }

    private static void print(String how, List<Integer> numbers) {
        long different = numbers.stream().distinct().count();
        boolean inOrder = numbers.equals(numbers.stream().sorted().distinct().toList());
        System.out.printf(
                "%-15s drew %d numbers, %d of them twice or more often; in order: %s%n",
                how + ":", numbers.size(), numbers.size() - different, inOrder ? "yes" : "no");
    }
}
