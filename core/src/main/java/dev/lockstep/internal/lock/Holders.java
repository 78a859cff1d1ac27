package dev.lockstep.internal.lock;

import dev.lockstep.LockInfo;
import dev.lockstep.internal.concurrent.Futures;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.spi.Answers;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The holders of locks that were not free, in words for the message of an exception. */
final class Holders {
    /** How many locks the engine is asked about: each is a request, and one exception does not justify thousands. */
    private static final int ASKED = 10;

    private Holders() {}

    /** Asks about all of them at once, and waits for the answers for one request timeout. */
    static String of(TurnstileContext client, List<String> names) {
        List<CompletableFuture<LockInfo>> answers = names.stream()
                .limit(ASKED)
                .map(name -> Futures.answerTo(() -> client.backend().inspect(name)))
                .toList();
        Answers.await(CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)), client.requestTimeout());
        String holders = IntStream.range(0, answers.size())
                .mapToObj(i -> (names.size() == 1 ? "" : "'" + names.get(i) + "': ") + holders(answers.get(i)))
                .collect(Collectors.joining("; "));
        int others = names.size() - answers.size();
        return others == 0 ? holders : holders + "; it was not asked who holds the " + others + " more";
    }

    private static String holders(CompletableFuture<LockInfo> answer) {
        if (!answer.isDone()) {
            return "its holder is unknown: no answer";
        }
        try {
            LockInfo info = answer.join();
            return info.isFree()
                    ? "it is free by now"
                    : "held by "
                            + info.holders().stream()
                                    .map(entry -> entry.holder().toString())
                                    .collect(Collectors.joining(", "));
        } catch (CompletionException | CancellationException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return "its holder is unknown: " + cause.getMessage();
        }
    }
}
