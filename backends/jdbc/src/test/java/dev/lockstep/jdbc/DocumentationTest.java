package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of the page about this engine, as a program. */
class DocumentationTest {
    @Test
    void byUrl(@TempDir Path folder) throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("locks.db");
        try (LockClient locks = LockClient.connect(url);
                Lease lease = locks.lock("order:42").acquire()) {
            assertThat(lease.token()).isPositive();
        }
    }

    @Test
    void overADataSource(@TempDir Path folder) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:" + folder.resolve("locks") + ";AUTO_SERVER=TRUE");
        try (HikariDataSource dataSource = new HikariDataSource(config)) {
            use(dataSource);
        }
    }

    private static void use(DataSource dataSource) throws Exception {
        try (LockClient locks = LockClient.builder()
                        .backend(JdbcEngine.over(dataSource).tablePrefix("app_").createSchema(true))
                        .connect();
                Lease lease = locks.lock("order:42").acquire()) {
            assertThat(lease.token()).isPositive();
        }
    }

    @Test
    void theTablesAreWrittenDown() {
        for (String database : new String[] {"postgresql", "mysql", "mariadb", "h2", "sqlite"}) {
            assertThat(JdbcEngine.ddl(database))
                    .contains("CREATE TABLE IF NOT EXISTS lockstep_locks")
                    .doesNotContain("${");
        }
    }
}
