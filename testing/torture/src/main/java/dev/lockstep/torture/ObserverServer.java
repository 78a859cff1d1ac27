package dev.lockstep.torture;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Lets workers in other processes talk to the observer: a connection, and a thread here, for each of their threads. */
final class ObserverServer implements AutoCloseable {
    private static final Wire[] KINDS = Wire.values();

    private final Observer observer;
    private final ServerSocket listening;

    ObserverServer(Observer observer) {
        this.observer = observer;
        try {
            listening = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException("no port for the observer", e);
        }
        start("torture-observer", this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                start("torture-observer-" + socket.getPort(), () -> serve(socket));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            Witness witness = observer.witness(in.readInt());
            while (true) {
                hear(KINDS[in.readByte()], in, out, witness);
                out.flush();
            }
        } catch (IOException | IllegalStateException e) {
            // The worker has ended, or was declared dead.
        }
    }

    private static void hear(Wire kind, DataInputStream in, DataOutputStream out, Witness witness) throws IOException {
        int first = in.readInt();
        long answer = 0;
        switch (kind) {
            case ASK -> answer = witness.ask(first, in.readBoolean(), in.readBoolean());
            case ASK_PERMITS -> answer = witness.askPermits(first, in.readInt(), in.readInt());
            case SLOT -> answer = witness.slot(first, in.readInt());
            case QUEUED -> witness.queued(first);
            case INSIDE -> witness.inside(first, in.readInt());
            case VICTIM -> witness.victim(first);
            case ENTER -> {
                Witness.Seen seen = witness.enter(first, in.readLong());
                out.writeLong(seen.naive());
                out.writeLong(seen.deadline());
                answer = seen.fenced();
            }
            case WRITE ->
                witness.write(first, new Witness.Seen(in.readLong(), in.readLong(), in.readLong()), in.readBoolean());
            case LOOK -> witness.look(first, in.readBoolean());
            case ENDED -> witness.ended(first);
            case EXIT_VALID -> witness.exit(first, true);
            case EXIT_ENDED -> witness.exit(first, false);
            case GIVE_UP -> witness.giveUp(first);
            case REOPENED -> witness.reopened();
            case STALLED -> witness.stalled(in.readLong());
            case COMPLAIN -> witness.complain(Rule.values()[first], in.readInt(), in.readUTF());
        }
        if (kind.isAnswered()) {
            out.writeLong(answer);
        }
    }

    @Override
    public void close() {
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
