package dev.lockstep.benchmarks.worker;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The data that a contended lock protects: a counter that every process of the machine sees. Each section reads it, and
 * writes one more; two sections at once lose an update, and the sum at the end is too small. Costs some nanoseconds.
 */
public final class Guard implements AutoCloseable {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int COUNT = 0;
    private static final int COPY = 64; // on another cache line, so that a reader can see the two differ
    private static final int SIZE = 128;

    /** One section in so many lets other threads run in its middle, where a broken lock would show. */
    private static final int PAUSE_EVERY = 64;

    private final FileChannel file;
    private final MappedByteBuffer memory;

    /**
     * Opens the counter.
     *
     * @param path its file, which is made if it is missing
     * @throws IOException if that cannot be done
     */
    public Guard(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        memory = file.map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
    }

    /** Sets the counter to nothing. */
    public void reset() {
        LONGS.setVolatile(memory, COUNT, 0L);
        LONGS.setVolatile(memory, COPY, 0L);
    }

    /**
     * How many sections have counted.
     *
     * @return the counter
     */
    public long count() {
        return (long) LONGS.getVolatile(memory, COUNT);
    }

    /** The section of an exclusive holder. */
    void write() {
        long next = (long) LONGS.getOpaque(memory, COUNT) + 1;
        if (next % PAUSE_EVERY == 0) {
            Thread.yield();
        }
        LONGS.setOpaque(memory, COUNT, next);
        LONGS.setOpaque(memory, COPY, next);
    }

    /**
     * The section of a shared holder.
     *
     * @return whether no writer was there
     */
    boolean read() {
        long copy = (long) LONGS.getOpaque(memory, COPY);
        if (copy % PAUSE_EVERY == 0) {
            Thread.yield();
        }
        return copy == (long) LONGS.getOpaque(memory, COUNT);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
