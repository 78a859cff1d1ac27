package dev.lockstep.servers;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Map;

/*
 * Overview. Members of a cluster must all know a member by the same address, so an address cannot show which one dials it. But each
 * member can have a SOCKS proxy of its own: only this member connects to it, and names the member that it wants.
 *
 *      member 0 ──▶ gate of 0 ──▶ the way from 0 to 1 ──▶ member 1
 *                            └──▶ the way from 0 to 2 ──▶ member 2
 *
 * The members' common name leads nowhere (RFC 2606), so that what passes by the gate does not arrive.
 */
/**
 * The gate through which one server dials the others: a SOCKS 5 proxy that knows a way to each of their ports, and to
 * no other ports. Thread-safe.
 */
final class SocksGate implements AutoCloseable {
    /** The name of all servers that are reached through gates. There is never an address of that name. */
    static final String HOST = "lockstep.invalid";

    /** It has one client, which sends all this at once; if that client is paused, only its own connections wait. */
    private static final int GREETING_MILLIS = 1_000;

    private static final int VERSION = 5;
    private static final int CONNECT = 1;
    private static final int IPV4 = 1;
    private static final int NAME = 3;
    private static final byte[] GRANTED = {VERSION, 0, 0, IPV4, 0, 0, 0, 0, 0, 0};

    private final TcpProxy proxy;

    private SocksGate(TcpProxy proxy) {
        this.proxy = proxy;
    }

    /**
     * Opens a gate.
     *
     * @param ways from the ports that its client asks for to those that it gets
     */
    static SocksGate open(Map<Integer, Integer> ways) {
        Map<Integer, Integer> known = Map.copyOf(ways);
        return new SocksGate(TcpProxy.to("ports " + known, client -> welcome(client, known)));
    }

    int port() {
        return proxy.port();
    }

    @Override
    public void close() {
        proxy.close();
    }

    /** Lets a client say where it wants to go. That it gets there is promised too early, and broken by a reset. */
    private static InetSocketAddress welcome(SocketChannel client, Map<Integer, Integer> ways) throws IOException {
        Socket socket = client.socket();
        socket.setSoTimeout(GREETING_MILLIS);
        InputStream in = socket.getInputStream();
        OutputStream out = socket.getOutputStream();
        int methods = expect(in, VERSION, 1).get();
        expect(in, methods);
        out.write(new byte[] {VERSION, 0}); // no password
        ByteBuffer request = expect(in, VERSION, 4); // the command, nothing, the kind of the address, its length
        if (request.get(0) != CONNECT || request.get(2) != NAME) {
            throw new IOException("not asked to connect to a name");
        }
        expect(in, Byte.toUnsignedInt(request.get(3)));
        int wanted = Short.toUnsignedInt(expect(in, Short.BYTES).getShort());
        Integer way = ways.get(wanted);
        if (way == null) {
            throw new IOException("no way to port " + wanted);
        }
        out.write(GRANTED);
        return FreePorts.address(way);
    }

    /** Reads a message after its version. */
    private static ByteBuffer expect(InputStream in, int version, int bytes) throws IOException {
        if (expect(in, 1).get() != version) {
            throw new IOException("not SOCKS " + version);
        }
        return expect(in, bytes);
    }

    private static ByteBuffer expect(InputStream in, int bytes) throws IOException {
        byte[] read = in.readNBytes(bytes);
        if (read.length < bytes) {
            throw new EOFException();
        }
        return ByteBuffer.wrap(read);
    }
}
