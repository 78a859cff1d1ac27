package dev.lockstep.spring.boot;

import dev.lockstep.jdbc.JdbcEngine;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/** Chooses the engine of a client: by its URL, or from what the application has. */
final class Engines {
    static final String REDIS = "dev.lockstep.redis.RedisEngine";
    static final String JDBC = "dev.lockstep.jdbc.JdbcEngine";
    static final String DATA_SOURCE = "javax.sql.DataSource";
    static final String SPRING_JDBC = "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy";

    private final ListableBeanFactory beans;

    Engines(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /** The engine of the default client, whose settings may say nothing. */
    Engine ofDefault(ClientProperties settings) {
        LockstepConnectionDetails details =
                beans.getBeanProvider(LockstepConnectionDetails.class).getIfUnique();
        if (details != null) {
            return Engine.of(details.url(), "connection details");
        }
        if (settings.getUrl() != null) {
            return Engine.of(settings.getUrl(), "lockstep.url");
        }
        if (!Boolean.FALSE.equals(settings.getJdbc().getUseDataSource())) {
            Engine sql = ofDataSource(settings.getJdbc(), "lockstep");
            if (sql != null) {
                return sql;
            }
        }
        if (isPresent(REDIS)) {
            Optional<String> url = beans.getBeanProvider(RedisSettings.class)
                    .orderedStream()
                    .findFirst()
                    .map(RedisSettings::url);
            if (url.isPresent()) {
                return Engine.of(url.get(), "spring.data.redis");
            }
        }
        if (isPresent("org.springframework.boot.test.context.SpringBootTest")) {
            return Engine.of("memory:", "a test without lockstep.url");
        }
        throw new NoEngineException("No lock engine is configured: lockstep.url is not set, and the application has no"
                + " DataSource (with lockstep-jdbc) and no Redis (with lockstep-redis) that could be used.");
    }

    /** The engine of one of several clients. */
    Engine ofNamed(String name, ClientProperties settings) {
        String prefix = "lockstep.clients." + name;
        if (settings.getUrl() != null) {
            return Engine.of(settings.getUrl(), prefix + ".url");
        }
        Engine sql = Boolean.TRUE.equals(settings.getJdbc().getUseDataSource())
                ? ofDataSource(settings.getJdbc(), prefix)
                : null;
        if (sql == null) {
            throw new NoEngineException(prefix + ".url is not set.");
        }
        return sql;
    }

    private @Nullable Engine ofDataSource(ClientProperties.Jdbc settings, String prefix) {
        boolean wanted = Boolean.TRUE.equals(settings.getUseDataSource());
        String property = prefix + ".jdbc.use-data-source";
        if (!isPresent(DATA_SOURCE) || !isPresent(JDBC)) {
            if (wanted) {
                throw new NoEngineException(property + " is true, but lockstep-jdbc is not on the class path.");
            }
            return null;
        }
        return Sql.engine(beans, settings.getCreateSchema(), wanted, property);
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, Engines.class.getClassLoader());
    }

    /** The part that needs lockstep-jdbc. */
    private static final class Sql {
        static @Nullable Engine engine(
                ListableBeanFactory beans, @Nullable Boolean createSchema, boolean wanted, String property) {
            DataSource source;
            try {
                source = beans.getBeanProvider(DataSource.class).getIfAvailable();
            } catch (NoUniqueBeanDefinitionException e) {
                if (!wanted) {
                    return null;
                }
                throw new NoEngineException(
                        property + " is true, but there are several DataSources and none is primary: "
                                + List.of(beans.getBeanNamesForType(DataSource.class)) + ".");
            }
            if (source == null && wanted) {
                throw new NoEngineException(property + " is true, but the application has no DataSource.");
            }
            if (source == null) {
                return null;
            }
            JdbcEngine locks = JdbcEngine.over(isPresent(SPRING_JDBC) ? SpringJdbc.plain(source) : source);
            return Engine.of(
                    createSchema == null ? locks : locks.createSchema(createSchema),
                    "sql",
                    wanted ? property : "the application's DataSource");
        }
    }

    /** The part that needs spring-jdbc. */
    private static final class SpringJdbc {
        /** The data source of its own connections, which no transaction of the application's shares. */
        static DataSource plain(DataSource source) {
            DataSource plain = source;
            while (plain instanceof TransactionAwareDataSourceProxy proxy) {
                plain = Objects.requireNonNull(proxy.getTargetDataSource(), "targetDataSource");
            }
            if (plain instanceof AbstractRoutingDataSource) {
                throw new NoEngineException(
                        "The application's DataSource is a " + plain.getClass().getName()
                                + ", which selects a database for each call. All callers of a lock must use the same one. Set"
                                + " lockstep.url, or lockstep.jdbc.use-data-source=false for the application's Redis; or define a LockClient"
                                + " bean over one of the databases: LockClient.builder().backend(JdbcEngine.over(dataSource)).");
            }
            return plain;
        }
    }
}
