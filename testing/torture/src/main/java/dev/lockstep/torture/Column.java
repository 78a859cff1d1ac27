package dev.lockstep.torture;

import java.util.Arrays;

/** A list of longs that grows in chunks, so that ten million take no more memory than they need. Not thread-safe. */
final class Column {
    private static final int BITS = 16;
    private static final int MASK = (1 << BITS) - 1;

    private long[][] chunks = new long[16][];
    private int size;

    void add(long value) {
        int chunk = size >> BITS;
        if (chunk == chunks.length) {
            chunks = Arrays.copyOf(chunks, chunk * 2);
        }
        if ((size & MASK) == 0) {
            chunks[chunk] = new long[MASK + 1];
        }
        chunks[chunk][size & MASK] = value;
        size++;
    }

    long get(int index) {
        return chunks[index >> BITS][index & MASK];
    }

    void set(int index, long value) {
        chunks[index >> BITS][index & MASK] = value;
    }

    int size() {
        return size;
    }
}
