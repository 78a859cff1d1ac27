package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The files for Docker say what they should. Whether Docker runs them is not tested here: it needs an engine. */
class DockerTest {
    private static final Path FOLDER = Project.root().resolve("tools/docker");

    @SuppressWarnings("unchecked") // as the format says
    private static Map<String, Map<String, Object>> services() throws IOException {
        try (Reader file = Files.newBufferedReader(FOLDER.resolve("compose.yaml"))) {
            Map<String, Object> compose = new Yaml().load(file);
            assertThat(compose).containsOnlyKeys("services");
            return (Map<String, Map<String, Object>>) Objects.requireNonNull(compose.get("services"));
        }
    }

    @Test
    void everyEngineWithAServerIsThere() throws IOException {
        assertThat(services().keySet())
                .contains("redis", "valkey", "zookeeper", "etcd", "postgres", "mysql", "mariadb", "lockstep");
    }

    @Test
    void everyServiceHasAnImageOfAFixedVersion() throws IOException {
        services().forEach((name, service) -> {
            if (service.containsKey("build")) {
                assertThat(service).as(name).doesNotContainKey("image");
            } else {
                assertThat(service.get("image")).as(name).asString().matches("[a-z/]+:\\d[\\d.]*");
            }
        });
    }

    @Test
    void portsAreDifferentAndOpenToThisMachineOnly() throws IOException {
        List<Object> ports = services().values().stream()
                .flatMap(service -> ((List<?>) service.getOrDefault("ports", List.of())).stream())
                .<Object>map(Object.class::cast)
                .toList();
        assertThat(ports)
                .hasSizeGreaterThan(5)
                .doesNotHaveDuplicates()
                .allSatisfy(port -> assertThat(port).asString().matches("127\\.0\\.0\\.1:\\d+:\\d+"));
    }

    @Test
    void theImageHasTheArchiveThatTheBuildMakes() throws IOException {
        List<String> lines = Files.readAllLines(FOLDER.resolve("Dockerfile"));
        assertThat(lines).anyMatch(line -> line.startsWith("FROM ") && line.matches(".*:\\d.*"));
        assertThat(lines).contains("ADD tools/cli/target/lockstep-cli-bin.tar.gz /opt/", "USER lockstep");
        assertThat(Files.readString(Project.root().resolve("tools/cli/pom.xml")))
                .contains("lockstep-cli");
        assertThat(Files.readAllLines(FOLDER.resolve("Dockerfile.dockerignore")))
                .contains("*", "!tools/cli/target/lockstep-cli-bin.tar.gz");
    }
}
