package dev.lockstep.jdbc;

import dev.lockstep.tck.Capability;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a file of SQLite. */
class ContractSqliteTest extends SqlContract {
    @TempDir
    static Path folder;

    @Override
    SqlFixture.Database database() {
        return new SqlFixture.Database() {
            @Override
            public String url() {
                return "jdbc:sqlite:" + folder.resolve("locks.db");
            }

            @Override
            public Set<Capability> capabilities() {
                return SqlFixture.common();
            }

            @Override
            public List<String> malformedUrls() {
                return List.of("jdbc:sqlite", "jdbc:sqlight:s3cret", "jdbc:sqlite:x.db?lockstep.tablePrefix=1;");
            }
        };
    }
}
