package dev.lockstep.cli;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** A stream that remembers why it failed, which a writer above it forgets. */
final class Output extends FilterOutputStream {
    private volatile String failure = "";

    Output(OutputStream stream) {
        super(stream);
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        try {
            out.write(bytes, from, count);
        } catch (IOException e) {
            failure = String.valueOf(e.getMessage());
            throw e;
        }
    }

    /** Why a write failed; empty if none did. */
    String failure() {
        return failure;
    }
}
