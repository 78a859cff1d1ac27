package dev.lockstep.examples.flashsale;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Buyers who each want one piece, over HTTP. A buyer who gets no answer sends the same order again, to another instance. Safe
 * for use by many threads.
 */
final class Buyers {
    private static final int TRIES = 100;

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
    private final List<String> urls;
    private final Set<UUID> sold = ConcurrentHashMap.newKeySet();
    private final AtomicInteger turnedAway = new AtomicInteger();
    private final AtomicInteger repeated = new AtomicInteger();

    Buyers(List<String> urls) {
        this.urls = urls;
    }

    /** Lets all of them buy, some at once, and returns when each has an answer. */
    void run(int buyers, int atOnce) throws Exception {
        AtomicInteger next = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(atOnce);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < atOnce; thread++) {
                all.add(threads.submit(() -> {
                    for (int buyer = next.getAndIncrement(); buyer < buyers; buyer = next.getAndIncrement()) {
                        buy(buyer);
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void buy(int buyer) throws InterruptedException {
        UUID id = UUID.randomUUID();
        String order = "{\"id\":\"" + id + "\",\"item\":\"phone\",\"buyer\":\"buyer " + buyer + "\"}";
        for (int attempt = 0; attempt < TRIES; attempt++) {
            String answer = post(urls.get((buyer + attempt) % urls.size()), order);
            if (answer.equals("\"SOLD\"")) {
                sold.add(id);
                return;
            }
            if (answer.equals("\"SOLD_OUT\"")) {
                turnedAway.incrementAndGet();
                return;
            }
            repeated.incrementAndGet();
            Thread.sleep(100);
        }
        throw new IllegalStateException("Buyer " + buyer + " has no answer");
    }

    /** The answer; empty if there is none. */
    private String post(String url, String order) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/orders"))
                .header("Content-Type", "application/json")
                .timeout(Duration.ofSeconds(30))
                .POST(HttpRequest.BodyPublishers.ofString(order))
                .build();
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200 ? answer.body() : "";
        } catch (IOException e) {
            return "";
        }
    }

    /** The orders of the buyers whose answer was that they have bought. */
    Set<UUID> sold() {
        return sold;
    }

    int turnedAway() {
        return turnedAway.get();
    }

    /** How often an order was sent again. */
    int repeated() {
        return repeated.get();
    }
}
