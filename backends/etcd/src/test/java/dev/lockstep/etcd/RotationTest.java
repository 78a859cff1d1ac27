package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.TestCertificates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Passwords and certificates change while a client is open. */
@Tag("full")
class RotationTest extends EtcdTestCase {
    @TempDir
    private Path folder;

    @Test
    void aPasswordThatHasChangedIsReadAgainFromItsFileAndItsSupplier() throws Exception {
        Path file = Files.writeString(folder.resolve("password"), "old\n");
        AtomicReference<String> supplied = new AtomicReference<>("old");
        EtcdServer server = closedAfterwards(Servers.require(EtcdServer.builder()::start));
        Gateway gateway = new Gateway(server);
        gateway.post("/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"old\"}");
        gateway.post("/v3/auth/role/add", "{\"name\":\"root\"}");
        gateway.post("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
        gateway.post("/v3/auth/enable", "{}");
        // The server is away for about three seconds, and on a busy machine for longer: the ttl outlasts that by far.
        LockClient locks = closedAfterwards(builder()
                .ttl(Duration.ofSeconds(15))
                .url("etcd://root@" + server.address() + "?passwordFile=" + file)
                .connect());
        LockClient others = closedAfterwards(builder()
                .ttl(Duration.ofSeconds(15))
                .backend(EtcdEngine.at(server.address()).user("root", supplied::get))
                .connect());
        Lease held = locks.lock("held").acquireAsync().get();

        gateway.login("root", "old");
        gateway.post("/v3/auth/user/changepw", "{\"name\":\"root\",\"password\":\"new\"}");
        Files.writeString(file, "new\n");
        supplied.set("new");
        server.restart(); // so that no token of before is known

        await("it logs in again", () -> locks.lock("one").tryLock());
        await("it asks the supplier again", () -> others.lock("two").tryLock());
        Duration remaining = held.remaining();
        await("it is renewed with the new token", () -> held.remaining().compareTo(remaining) > 0);
        held.close();
        assertThatThrownBy(() -> connect("etcd://root:old@" + server.address()))
                .isInstanceOf(LockConfigurationException.class);
    }

    @Test
    void aPasswordIsInOnePlace() {
        for (String url : new String[] {
            "etcd://app:s3cret@localhost?passwordFile=" + folder,
            "etcd://app@localhost",
            "etcd://localhost?passwordFile=x"
        }) {
            assertThatThrownBy(() -> new EtcdProvider().parse(url))
                    .as(url)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("passwordFile")
                    .hasMessageNotContaining("s3cret");
        }
    }

    /** The server reads its own files for each connection. */
    @Test
    void certificatesAreReadAgain() throws Exception {
        use("usual");
        EtcdServer server = closedAfterwards(Servers.require(() -> EtcdServer.builder()
                .tls(TestCertificates.get())
                .flag("cert-file", folder.resolve("server.pem").toString())
                .flag("key-file", folder.resolve("server-key.pem").toString())
                .start()));
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        LockClient locks = closedAfterwards(builder()
                .requestTimeout(Duration.ofSeconds(5))
                .url("etcds://localhost:" + proxy.port() + "?ca=" + folder.resolve("ca.pem") + "&cert="
                        + folder.resolve("cert.pem") + "&key=" + folder.resolve("key.pem"))
                .connect());
        locks.lock("one").lock();
        use("other");
        proxy.resetConnections();
        await("it trusts the new certificate", () -> locks.lock("two").tryLock());
        locks.lock("one").unlock();
    }

    /** No server is asked. */
    @Test
    void aFileWithoutCertificatesIsRefused() throws Exception {
        use("usual");
        for (String file : new String[] {"ca.pem", "cert.pem", "key.pem"}) {
            Path emptied = folder.resolve(file);
            byte[] content = Files.readAllBytes(emptied);
            Files.writeString(emptied, "");
            assertThatThrownBy(() -> connect("etcds://localhost:1?ca=" + folder.resolve("ca.pem") + "&cert="
                            + folder.resolve("cert.pem") + "&key=" + folder.resolve("key.pem")))
                    .as(file)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("PEM")
                    .hasMessageContaining(file);
            Files.write(emptied, content);
        }
    }

    private void use(String authority) throws Exception {
        TestCertificates certificates = TestCertificates.get(authority);
        copy(certificates.caCertificate(), "ca.pem");
        copy(certificates.clientCertificate(), "cert.pem");
        copy(certificates.clientKey(), "key.pem");
        copy(certificates.serverCertificate(), "server.pem");
        copy(certificates.serverKey(), "server-key.pem");
    }

    private void copy(Path from, String name) throws Exception {
        Files.copy(from, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }
}
