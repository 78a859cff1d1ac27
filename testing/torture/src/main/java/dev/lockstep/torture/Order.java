package dev.lockstep.torture;

import java.util.function.IntToLongFunction;

/** Sorts section numbers by a stamp: a merge sort from below, quick on what is nearly in order. */
final class Order {
    private Order() {}

    static int[] by(IntToLongFunction stamp, int[] sections) {
        int count = sections.length;
        int[] from = sections.clone();
        int[] to = new int[count];
        for (int width = 1; width < count && width > 0; width *= 2) {
            for (int left = 0; left < count; left += 2 * width) {
                int middle = Math.min(left + width, count);
                merge(stamp, from, to, left, middle, Math.min(middle + width, count));
            }
            int[] swap = from;
            from = to;
            to = swap;
        }
        return from;
    }

    private static void merge(IntToLongFunction stamp, int[] from, int[] to, int left, int middle, int right) {
        if (middle >= right || stamp.applyAsLong(from[middle - 1]) <= stamp.applyAsLong(from[middle])) {
            System.arraycopy(from, left, to, left, right - left);
            return;
        }
        int i = left;
        int j = middle;
        for (int k = left; k < right; k++) {
            boolean takeLeft = i < middle && (j >= right || stamp.applyAsLong(from[i]) <= stamp.applyAsLong(from[j]));
            to[k] = from[takeLeft ? i++ : j++];
        }
    }
}
