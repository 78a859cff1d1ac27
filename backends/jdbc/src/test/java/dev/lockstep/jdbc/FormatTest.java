package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of another format are refused, and tools for migrations can create these. */
class FormatTest {
    private String url = "";
    private Connection operator;

    @BeforeEach
    void open() throws Exception {
        url = "jdbc:h2:mem:format-" + System.nanoTime();
        operator = DriverManager.getConnection(url);
    }

    @AfterEach
    void close() throws Exception {
        operator.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2})
    void tablesOfAnotherFormatAreRefused(int format) throws Exception {
        connect(";lockstep.createSchema=true").close();
        execute("UPDATE lockstep_format SET version = " + format);
        for (String create : new String[] {"true", "false"}) {
            assertThatThrownBy(() -> connect(";lockstep.createSchema=" + create))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("are of format " + format + ", and this version of Lockstep needs format 1")
                    .hasMessageContaining(format > 1 ? "Upgrade Lockstep" : "run the statements");
        }
        execute("UPDATE lockstep_format SET version = 1");
        connect(";lockstep.createSchema=false").close();
    }

    /** The names of placeholders are those that Flyway and Liquibase replace, and the statements can be run again. */
    @Test
    void aToolForMigrationsCreatesTheTablesWithAPrefix() throws Exception {
        for (int run = 0; run < 2; run++) {
            try (var in = JdbcEngine.class.getResourceAsStream("h2.sql")) {
                String script = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                        .replace("${prefix}", "app_")
                        .replace("${index}", "app_");
                for (String statement : script.strip().split(";")) {
                    execute(statement);
                }
            }
        }
        connect(";lockstep.createSchema=false;lockstep.tablePrefix=app_").close();
        try (Statement sql = operator.createStatement();
                ResultSet rows = sql.executeQuery("SELECT version FROM app_format")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getInt(1)).isEqualTo(Schema.FORMAT);
            assertThat(rows.next()).isFalse();
        }
    }

    @Test
    void theCommandOfTheErrorWritesStatementsThatCreateTheTables() throws Exception {
        String missing = catchThrowableOfType(
                        LockConfigurationException.class,
                        () -> connect(";lockstep.createSchema=false;lockstep.tablePrefix=app_"))
                .getMessage();
        Matcher command = Pattern.compile("unzip -p lockstep-jdbc\\.jar (\\S+) \\| sed '([^']+)'")
                .matcher(missing);
        assertThat(command.find()).as(missing).isTrue();
        Process sed = new ProcessBuilder("sed", command.group(2))
                .redirectInput(Path.of(JdbcEngine.class
                                .getResource("/" + command.group(1))
                                .toURI())
                        .toFile())
                .redirectErrorStream(true)
                .start();
        String script = new String(sed.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        for (String statement : script.replaceAll("--[^\n]*", "").strip().split(";")) {
            execute(statement);
        }
        connect(";lockstep.createSchema=false;lockstep.tablePrefix=app_").close();
    }

    /** So a tool may split the statements without a look at comments. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mysql", "mariadb", "h2", "sqlite"})
    void noCommentHasASemicolon(String database) throws Exception {
        try (var in = JdbcEngine.class.getResourceAsStream(database + ".sql")) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .containsPattern("--[^\n]*")
                    .doesNotContainPattern("--[^\n]*;");
        }
    }

    @Test
    void everyDatabaseHasTheFormatOfTheClient() {
        assertThat(Stream.of("postgresql", "mysql", "mariadb", "h2", "sqlite").map(JdbcEngine::ddl))
                .allSatisfy(ddl -> assertThat(ddl)
                        .contains("CREATE TABLE IF NOT EXISTS lockstep_format")
                        .contains("INSERT INTO lockstep_format (version) SELECT " + Schema.FORMAT));
    }

    private LockClient connect(String settings) {
        return LockClient.connect(url + settings);
    }

    private void execute(String statement) throws Exception {
        try (Statement sql = operator.createStatement()) {
            sql.execute(statement);
        }
    }
}
