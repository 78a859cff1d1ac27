package dev.lockstep.examples.flashsale;

import java.io.IOException;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** One instance in a process of its own, which ends when its standard input does. */
public final class Instance {
    /** The line that it prints when it is ready. */
    static final String READY = "READY";

    private Instance() {}

    /**
     * Starts it.
     *
     * @param args its properties
     * @throws IOException if the standard input cannot be read
     */
    public static void main(String[] args) throws IOException {
        try (ConfigurableApplicationContext context = SpringApplication.run(FlashSaleApplication.class, args)) {
            System.out.println(READY);
            while (System.in.read() >= 0) {
                // It ends with its parent.
            }
        }
    }
}
