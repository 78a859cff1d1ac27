package dev.lockstep.redis.internal;

import java.nio.charset.StandardCharsets;

/** Text and numbers as Redis has them. */
public final class Bytes {
    private Bytes() {}

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static byte[] bytes(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    public static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }
}
