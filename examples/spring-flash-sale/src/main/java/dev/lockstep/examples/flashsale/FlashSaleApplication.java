package dev.lockstep.examples.flashsale;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The service. It needs a PostgreSQL; its locks are there, too, unless {@code lockstep.url} names another engine. */
@SpringBootApplication
public class FlashSaleApplication {
    /** Made by Spring. */
    public FlashSaleApplication() {}

    /**
     * Starts one instance.
     *
     * @param args properties, such as {@code --server.port=8082}
     */
    public static void main(String[] args) {
        SpringApplication.run(FlashSaleApplication.class, args);
    }
}
