package dev.lockstep.torture;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;

/** A witness in another process than the observer, on a connection of its own. For one thread. */
final class RemoteWitness implements Witness {
    private final DataOutputStream out;
    private final DataInputStream in;

    RemoteWitness(int port, int client) {
        try {
            // The connection ends with the process.
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            out.writeInt(client);
        } catch (IOException e) {
            throw gone(e);
        }
    }

    private static UncheckedIOException gone(IOException e) {
        return new UncheckedIOException("the observer is gone", e);
    }

    /** Writes the rest of a message. */
    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    private long tell(Wire kind, Body body) {
        send(kind, body);
        try {
            return in.readLong();
        } catch (IOException e) {
            throw gone(e);
        }
    }

    /** Sends a message that is not answered. */
    private void send(Wire kind, Body body) {
        try {
            out.writeByte(kind.ordinal());
            body.write(out);
            out.flush();
        } catch (IOException e) {
            throw gone(e);
        }
    }

    @Override
    public int ask(int lock, boolean shared, boolean fair) {
        return (int) tell(Wire.ASK, message -> {
            message.writeInt(lock);
            message.writeBoolean(shared);
            message.writeBoolean(fair);
        });
    }

    @Override
    public int askPermits(int semaphore, int permits, int limit) {
        return (int) tell(Wire.ASK_PERMITS, message -> {
            message.writeInt(semaphore);
            message.writeInt(permits);
            message.writeInt(limit);
        });
    }

    @Override
    public int slot(int section, int lock) {
        return (int) tell(Wire.SLOT, message -> {
            message.writeInt(section);
            message.writeInt(lock);
        });
    }

    @Override
    public void queued(int section) {
        tell(Wire.QUEUED, message -> message.writeInt(section));
    }

    @Override
    public void inside(int section, int outer) {
        tell(Wire.INSIDE, message -> {
            message.writeInt(section);
            message.writeInt(outer);
        });
    }

    @Override
    public void victim(int section) {
        tell(Wire.VICTIM, message -> message.writeInt(section));
    }

    @Override
    public Seen enter(int section, long token) {
        long naive = tell(Wire.ENTER, message -> {
            message.writeInt(section);
            message.writeLong(token);
        });
        try {
            return new Seen(naive, in.readLong(), in.readLong());
        } catch (IOException e) {
            throw gone(e);
        }
    }

    @Override
    public void write(int section, Seen seen, boolean valid) {
        tell(Wire.WRITE, message -> {
            message.writeInt(section);
            message.writeLong(seen.naive());
            message.writeLong(seen.deadline());
            message.writeLong(seen.fenced());
            message.writeBoolean(valid);
        });
    }

    @Override
    public void look(int section, boolean valid) {
        tell(Wire.LOOK, message -> {
            message.writeInt(section);
            message.writeBoolean(valid);
        });
    }

    @Override
    public void ended(int section) {
        tell(Wire.ENDED, message -> message.writeInt(section));
    }

    @Override
    public void reopened() {
        tell(Wire.REOPENED, message -> message.writeInt(0));
    }

    @Override
    public void stalled(long nanos) {
        tell(Wire.STALLED, message -> {
            message.writeInt(0);
            message.writeLong(nanos);
        });
    }

    @Override
    public void exit(int section, boolean valid) {
        if (valid) {
            send(Wire.EXIT_VALID, message -> message.writeInt(section));
        } else {
            tell(Wire.EXIT_ENDED, message -> message.writeInt(section));
        }
    }

    @Override
    public void giveUp(int section) {
        send(Wire.GIVE_UP, message -> message.writeInt(section));
    }

    @Override
    public void complain(Rule rule, int lock, String text) {
        tell(Wire.COMPLAIN, message -> {
            message.writeInt(rule.ordinal());
            message.writeInt(lock);
            message.writeUTF(text.substring(0, Math.min(text.length(), 2_000)));
        });
    }
}
