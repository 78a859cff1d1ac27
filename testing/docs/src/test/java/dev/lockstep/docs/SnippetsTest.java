package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** The code on the pages is code that is compiled, run or understood. */
class SnippetsTest {
    private static final Pattern COORDINATES = Pattern.compile("dev\\.lockstep:([\\w-]+)(?::([^\"')]+))?");

    @Test
    void everyJavaOrKotlinBlockIsARegionOfCompiledCode() throws IOException {
        Map<String, String> regions = Snippets.read(Guide.root());
        Set<String> shown = new HashSet<>();
        for (Path file : Guide.pages(Guide.root())) {
            List<String> blocks = new ArrayList<>(blocks(file, "java"));
            blocks.addAll(blocks(file, "kotlin"));
            for (String code : blocks) {
                assertThat(regions.keySet())
                        .as(
                                file
                                        + " shows code that is no region between // tag:: and // end:: in a Java or Kotlin file")
                        .contains(code);
                shown.add(regions.getOrDefault(code, ""));
            }
        }
        assertThat(shown).as("regions, of which some are shown on no page").containsAll(regions.values());
    }

    @Test
    void everyDependencyExists() throws Exception {
        Set<String> published = artifacts(Commands.xml(Guide.root().resolve("bom/pom.xml")));
        String version = Commands.xml(Guide.root().resolve("pom.xml"))
                .getElementsByTagName("version")
                .item(0)
                .getTextContent();
        List<String> blocks = new ArrayList<>(blocks(Guide.root().resolve("README.md"), "xml"));
        blocks.addAll(blocks(Guide.root().resolve("docs/install.md"), "xml"));
        assertThat(blocks).isNotEmpty();
        for (String block : blocks) {
            Document xml = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new InputSource(new StringReader("<x>" + block + "</x>")));
            assertThat(published).containsAll(artifacts(xml));
            assertThat(texts(xml, "version")).allMatch(version::equals);
        }
    }

    /** Coordinates for Gradle, in both of its languages. */
    @Test
    void everyDependencyOfGradleExists() throws Exception {
        Set<String> published = artifacts(Commands.xml(Guide.root().resolve("bom/pom.xml")));
        String version = Commands.xml(Guide.root().resolve("pom.xml"))
                .getElementsByTagName("version")
                .item(0)
                .getTextContent();
        Set<String> found = new HashSet<>();
        for (Guide.Pair pair : Guide.pairs()) {
            for (String language : List.of("kts", "groovy")) {
                for (String block : blocks(Guide.root().resolve(pair.english()), language)) {
                    Matcher coordinates = COORDINATES.matcher(block);
                    while (coordinates.find()) {
                        assertThat(published).contains(coordinates.group(1));
                        assertThat(coordinates.group(2)).isIn(null, version);
                        found.add(language);
                    }
                }
            }
        }
        assertThat(found).containsExactlyInAnyOrder("kts", "groovy");
    }

    private static Set<String> artifacts(Document pom) {
        return new HashSet<>(texts(pom, "artifactId"));
    }

    private static List<String> texts(Document xml, String tag) {
        NodeList nodes = xml.getElementsByTagName(tag);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add(nodes.item(i).getTextContent().strip());
        }
        return texts;
    }

    @Test
    void everyStatementIsSql() throws IOException, SQLException {
        List<String> statements = new ArrayList<>();
        for (Guide.Pair pair : Guide.pairs()) {
            statements.addAll(blocks(Guide.root().resolve(pair.english()), "sql"));
        }
        assertThat(statements).isNotEmpty();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
                Statement table = connection.createStatement()) {
            table.execute("CREATE TABLE stock (id INTEGER PRIMARY KEY, amount INTEGER, token BIGINT)");
            table.execute("INSERT INTO stock VALUES (7, 10, 33)");
            for (String statement : statements) {
                assertThat(update(connection, statement, 34)).isEqualTo(1);
                assertThat(update(connection, statement, 33)).isZero();
                table.execute("UPDATE stock SET token = 33");
            }
        }
    }

    private static int update(Connection connection, String sql, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, 9);
            statement.setLong(2, token);
            statement.setInt(3, 7);
            statement.setLong(4, token);
            return statement.executeUpdate();
        }
    }

    private static List<String> blocks(Path file, String language) throws IOException {
        return Page.read(file).blocks().stream()
                .filter(block -> block.language().equals(language))
                .map(Page.Block::text)
                .toList();
    }
}
