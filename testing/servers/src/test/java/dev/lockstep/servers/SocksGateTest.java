package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SocksGateTest {
    private static final int ASKED_FOR = 2380;

    private ServerSocket server;
    private SocksGate gate;

    @BeforeEach
    void open() throws IOException {
        server = new ServerSocket();
        server.bind(FreePorts.address(0));
        gate = SocksGate.open(Map.of(ASKED_FOR, server.getLocalPort()));
    }

    @AfterEach
    void close() throws IOException {
        gate.close();
        server.close();
    }

    private Socket connect(int port) throws IOException {
        Socket client = new Socket(new Proxy(Proxy.Type.SOCKS, FreePorts.address(gate.port())));
        client.setSoTimeout(20_000);
        client.connect(InetSocketAddress.createUnresolved(SocksGate.HOST, port));
        return client;
    }

    @Test
    void aClientGetsWhereItsWayLeads() throws Exception {
        try (Socket client = connect(ASKED_FOR);
                Socket served = server.accept()) {
            client.getOutputStream().write('?');
            assertThat(served.getInputStream().read()).isEqualTo('?');
            served.getOutputStream().write('!');
            assertThat(client.getInputStream().read()).isEqualTo('!');
        }
    }

    @Test
    void aPortThatItDoesNotKnowIsRefused() {
        assertThatThrownBy(() -> connect(ASKED_FOR + 1)).isInstanceOf(IOException.class);
    }

    @Test
    void aSilentClientDoesNotDelayOthersForLong() throws Exception {
        try (Socket silent = new Socket()) {
            silent.connect(FreePorts.address(gate.port()));
            aClientGetsWhereItsWayLeads();
            silent.setSoTimeout(20_000);
            assertThatThrownBy(() -> {
                        if (silent.getInputStream().read() < 0) {
                            throw new IOException("ended");
                        }
                    })
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(java.net.SocketTimeoutException.class);
        }
    }
}
