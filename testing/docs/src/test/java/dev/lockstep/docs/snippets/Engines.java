package dev.lockstep.docs.snippets;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.etcd.EtcdEngine;
import dev.lockstep.etcd.EtcdGuard;
import dev.lockstep.jdbc.JdbcEngine;
import dev.lockstep.redis.RedisEngine;
import dev.lockstep.zookeeper.ZooKeeperEngine;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import java.nio.file.Path;
import javax.sql.DataSource;
import redis.clients.jedis.RedisClient;

/**
 * How to reach engines without a URL, and what they add. The engines' own tests run similar code; here it is compiled.
 */
final class Engines {
    private Engines() {}

    static void redisByUrl() {
        // tag::redis-url
        try (LockClient locks = LockClient.connect("redis://localhost:6379")) {
            locks.lock("order:42").lock();
            locks.lock("order:42").unlock();
        }
        // end::redis-url
    }

    static void redisByClient() {
        // tag::redis-client
        try (RedisClient jedis = RedisClient.create("localhost", 6379);
                LockClient locks = LockClient.builder()
                        .backend(RedisEngine.on(jedis).replicas(1))
                        .connect()) {
            locks.lock("order:42").lock();
            locks.lock("order:42").unlock();
        }
        // end::redis-client
    }

    static void redlock() {
        // tag::redlock-url
        try (LockClient locks = LockClient.connect("redlock://redis-1,redis-2,redis-3")) {
            locks.lock("order:42").lock();
            locks.lock("order:42").unlock();
        }
        // end::redlock-url
    }

    static LockClient etcd(String password) {
        LockClient locks =
                // tag::etcd-engine
                LockClient.builder()
                        .backend(EtcdEngine.at("etcd-a:2379", "etcd-b:2379", "etcd-c:2379")
                                .tls(Path.of("ca.pem"))
                                .clientCertificate(Path.of("client.pem"), Path.of("client-key.pem"))
                                .user("orders", password))
                        .connect();
        // end::etcd-engine
        return locks;
    }

    static void etcdGuard(Lease lease, KV kv, ByteSequence key, ByteSequence value) {
        // tag::etcd-guard
        EtcdGuard guard = EtcdGuard.of(lease); // below, with jetcd
        kv.txn()
                .If(new Cmp(
                        ByteSequence.from(guard.key()), Cmp.Op.EQUAL, CmpTarget.createRevision(guard.createRevision())))
                .Then(Op.put(key, value, PutOption.DEFAULT))
                .commit();
        // end::etcd-guard
    }

    static LockClient zooKeeper(String password) {
        LockClient locks =
                // tag::zookeeper-engine
                LockClient.builder()
                        .backend(ZooKeeperEngine.at("zk-a:2181,zk-b:2181,zk-c:2181/apps")
                                .digest("orders", password)
                                .tls())
                        .connect();
        // end::zookeeper-engine
        return locks;
    }

    static void sql(DataSource dataSource) {
        {
            // tag::sql-url
            LockClient locks = LockClient.connect("jdbc:sqlite:locks.db"); // no server: a file on this machine
            // end::sql-url
            locks.close();
        }
        {
            // tag::sql-source
            LockClient locks = LockClient.builder()
                    .backend(JdbcEngine.over(dataSource).tablePrefix("app_").createSchema(true))
                    .connect();
            // end::sql-source
            locks.close();
        }
    }
}
