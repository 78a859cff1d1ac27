package dev.lockstep.console;

import dev.lockstep.LockClient;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.Charset;

/**
 * A process of a shop: it holds a lock, and its threads wait for the shop's one hot lock. It says when it does, and ends with its input.
 *
 * <p>Arguments: the engine's URL, the client's name, whether it holds the hot lock.
 */
public final class ShopProcess {
    static final String HOT = "stock:phone";
    static final int THREADS = 4;

    private ShopProcess() {}

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        try (LockClient client = LockClient.builder()
                        .url(arguments[0])
                        .clientName(arguments[1])
                        .connect();
                Shop shop = new Shop()) {
            shop.hold(client, "main", "cart:" + arguments[1]);
            if (Boolean.parseBoolean(arguments[2])) {
                shop.hold(client, "seller", HOT);
            }
            System.out.println("holds");
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
            if (input.readLine() != null) {
                for (int i = 0; i < THREADS; i++) {
                    shop.wait(client, "buyer-" + i, HOT);
                }
                System.out.println("waits");
                input.readLine();
            }
        }
    }
}
