package dev.lockstep.benchmarks.worker;

import dev.lockstep.benchmarks.worker.Contender.Client;
import dev.lockstep.benchmarks.worker.Contender.Mutex;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The program of a client process. It reads orders from standard input and answers each with a line on standard output;
 * everything else goes to standard error. Clients stay open until the process ends: at the end of input.
 */
public final class Worker {
    private final Contender contender;
    private final Map<String, Client> clients = new LinkedHashMap<>();

    Worker(Contender contender) {
        this.contender = contender;
    }

    /**
     * Works until the orders end.
     *
     * @param args the contender's class, and the variant of it that its constructor is given
     * @throws Exception if the contender cannot be made
     */
    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        Contender contender =
                (Contender) Class.forName(args[0]).getConstructor(String.class).newInstance(args[1]);
        Worker worker = new Worker(contender);
        BlockingQueue<String> orders = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(orders), "orders");
        reader.setDaemon(true);
        reader.start();
        while (true) {
            Order order = Order.parse(orders.take());
            try {
                answers.println(new Order("done", worker.carryOut(order)).line());
            } catch (Exception e) {
                e.printStackTrace();
                answers.println(new Order("failed", Map.of()).line());
            }
        }
    }

    /** Reads orders. At their end the process ends, whatever it does then: locks that are held, and threads that wait. */
    private static void read(BlockingQueue<String> orders) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            in.lines().forEach(orders::add);
        } catch (IOException | UncheckedIOException e) {
            // The other process has ended, too.
        }
        Runtime.getRuntime().halt(0);
    }

    /** Carries out an order, and answers with what was measured. */
    Map<String, String> carryOut(Order order) throws Exception {
        return switch (order.word()) {
            case "open" -> open(order);
            case "pairs" -> Pairs.run(order, client(order, "one"));
            case "history" -> History.run(order, client(order, "one"));
            case "hand-off" -> HandOff.run(order, client(order, "one"), client(order, "two"));
            case "crowd" -> Crowd.run(order, client(order, "two"), client(order, "one"));
            case "clients" -> clients(order, true);
            case "wait" -> clients(order, false);
            case "many" -> Many.run(order, client(order, "one"));
            case "take" -> Held.take(order, client(order, "one"), contender.holders());
            case "hold" -> Held.hold(order);
            default -> throw new IllegalArgumentException("no such order: " + order.word());
        };
    }

    private Map<String, String> open(Order order) throws Exception {
        client(order, "one");
        return Map.of();
    }

    /** Connects more clients, each of which holds a lock of its own from now on, or waits for the same one. */
    private Map<String, String> clients(Order order, boolean own) throws Exception {
        for (int i = 0; i < order.number("clients"); i++) {
            Client client = contender.open(order.text("url"));
            clients.put("more " + clients.size(), client);
            Mutex lock = client.mutex(order.text("lock") + (own ? "-" + i : ""));
            if (own) {
                lock.lock();
            } else {
                Crew waiter = new Crew();
                waiter.add(() -> {
                    lock.lock();
                    return null;
                });
                waiter.go();
            }
        }
        return Map.of();
    }

    private Client client(Order order, String which) throws Exception {
        String key = which + " " + order.text("url");
        Client client = clients.get(key);
        if (client == null) {
            client = contender.open(order.text("url"));
            clients.put(key, client);
        }
        return client;
    }

    /** Closes all clients; for programs that run a worker in their own process. */
    void close() throws Exception {
        for (Client client : clients.values()) {
            client.close();
        }
    }
}
