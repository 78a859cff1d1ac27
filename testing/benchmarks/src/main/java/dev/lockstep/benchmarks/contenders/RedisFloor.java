package dev.lockstep.benchmarks.contenders;

import dev.lockstep.benchmarks.worker.Contender;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** Jedis with two commands, one to set a key and one to delete it if it is still one's own. Nobody waits. */
public final class RedisFloor implements Contender {
    private static final String DELETE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    private static final int CONNECTIONS = 16;
    private static final long TTL_MILLIS = 30_000;

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public RedisFloor(String variant) {}

    @Override
    public Client open(String url) {
        URI uri = URI.create(url);
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(CONNECTIONS);
        pool.setMaxIdle(CONNECTIONS);
        RedisClient redis = RedisClient.builder()
                .hostAndPort(uri.getHost(), uri.getPort())
                .clientConfig(DefaultJedisClientConfig.builder().build())
                .poolConfig(pool)
                .build();
        String delete = redis.scriptLoad(DELETE);
        String owner = UUID.randomUUID().toString();
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return new Mutex() {
                    @Override
                    public void lock() {
                        if (redis.set(name, owner, SetParams.setParams().nx().px(TTL_MILLIS)) == null) {
                            throw new IllegalStateException(name + " is held");
                        }
                    }

                    @Override
                    public void unlock() {
                        redis.evalsha(delete, List.of(name), List.of(owner));
                    }
                };
            }

            @Override
            public void close() {
                redis.close();
            }
        };
    }
}
