package dev.lockstep.spring.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.util.ClassUtils;

/**
 * The parts that a native image must keep: the backends' scripts, the members of Jedis that are read by reflection, and
 * what this package looks for on the class path.
 */
final class LockstepRuntimeHints implements RuntimeHintsRegistrar {
    private static final String JEDIS = "redis.clients.jedis.";

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources()
                .registerPattern("META-INF/services/dev.lockstep.spi.BackendProvider")
                .registerPattern("dev/lockstep/redis/*.lua")
                .registerPattern("dev/lockstep/jdbc/*.sql");
        List.of(
                        Engines.REDIS,
                        Engines.JDBC,
                        Engines.DATA_SOURCE,
                        Engines.SPRING_JDBC,
                        LockstepObservationAutoConfiguration.TRACER)
                .forEach(type -> hints.reflection().registerTypeIfPresent(loader, type));
        if (ClassUtils.isPresent(JEDIS + "UnifiedJedis", loader)) {
            hints.reflection()
                    .registerType(TypeReference.of(JEDIS + "UnifiedJedis"), type -> type.withField("provider"))
                    .registerType(
                            TypeReference.of(JEDIS + "providers.SentineledConnectionProvider"),
                            type -> type.withField("pool"))
                    .registerType(
                            TypeReference.of(JEDIS + "Connection"),
                            type -> type.withField("socket")
                                    .withMethod("getHostAndPort", List.of(), ExecutableMode.INVOKE));
        }
    }
}
