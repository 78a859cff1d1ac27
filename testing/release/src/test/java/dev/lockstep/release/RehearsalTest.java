package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A release is rehearsed twice, in two folders, and what it would publish is checked against what Maven Central asks for. */
@Tag("full")
@Timeout(value = 45, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RehearsalTest {
    private static final Path TARGET = Path.of("target").toAbsolutePath();

    private Map<String, String> signer;
    private Rehearsal first;
    private Rehearsal second;

    /** Outside this project: Maven would find its settings in .mvn otherwise. */
    @TempDir
    Path elsewhere;

    @BeforeAll
    void rehearse() throws Exception {
        signer = Rehearsal.key(TARGET.resolve("keys"));
        first = Rehearsal.in(TARGET.resolve("first"), signer);
        Map<String, String> other = new HashMap<>(signer);
        other.putAll(Map.of("TZ", "Asia/Shanghai", "LC_ALL", "C.UTF-8"));
        second = Rehearsal.in(TARGET.resolve("another/second"), other);
    }

    @AfterAll
    void endAgent() throws Exception {
        Path log = TARGET.resolve("keys/agent.log");
        Rehearsal.run(TARGET, log, signer, List.of("gpgconf", "--kill", "gpg-agent"));
    }

    /** It becomes public when a person says so at the Portal, and not before. */
    @Test
    void everythingIsUploadedAtOnceAndNotMadePublic() {
        for (Rehearsal each : List.of(first, second)) {
            assertThat(each.uploads()).singleElement().asString().contains("publishingType=USER_MANAGED");
        }
    }

    @TestFactory
    Stream<DynamicTest> everyFileHasItsChecksums() {
        return forEach(artifact -> {
            for (Path file : first.files(artifact).values()) {
                for (String algorithm : List.of("MD5", "SHA-1")) {
                    byte[] sum = MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file));
                    String end = "." + algorithm.toLowerCase(Locale.ROOT).replace("-", "");
                    assertThat(file.resolveSibling(file.getFileName() + end))
                            .hasContent(HexFormat.of().formatHex(sum));
                }
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> everyFileIsSigned() {
        return forEach(artifact -> {
            for (Path file : first.files(artifact).values()) {
                Path signature = file.resolveSibling(file.getFileName() + ".asc");
                assertThat(signature).exists();
                Path log = TARGET.resolve("keys/verify.log");
                Rehearsal.run(TARGET, log, signer, List.of("gpg", "--verify", signature.toString(), file.toString()));
            }
        });
    }

    /** Anyone can check an artifact by building its commit again. */
    @Test
    void twoBuildsAreTheSameByteForByte() throws IOException {
        Map<String, Path> some = first.files();
        Map<String, Path> others = second.files();
        assertThat(others.keySet()).isEqualTo(some.keySet());
        Set<String> different = new TreeSet<>();
        for (Map.Entry<String, Path> file : some.entrySet()) {
            if (Files.mismatch(file.getValue(), others.get(file.getKey())) >= 0) {
                different.add(file.getKey());
            }
        }
        assertThat(different).isEmpty();
    }

    @Test
    void nothingElseIsPublished() throws IOException {
        try (Stream<Path> folders = Files.list(first.repository().resolve("dev/lockstep"))) {
            assertThat(folders.map(folder -> folder.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(Project.published().stream()
                            .map(Project::artifactId)
                            .toList());
        }
    }

    @TestFactory
    Stream<DynamicTest> everyPomHasWhatCentralAsksFor() {
        return forEach(artifact -> {
            Xml pom = pom(artifact);
            for (String path : List.of(
                    "name",
                    "description",
                    "url",
                    "licenses/license/name",
                    "licenses/license/url",
                    "developers/developer/name",
                    "scm/connection",
                    "scm/developerConnection",
                    "scm/url")) {
                assertThat(pom.text("/project/" + path)).as(path).isNotEmpty().doesNotContain("${");
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> everyPomStandsAlone() {
        return forEach(artifact -> {
            Xml pom = pom(artifact);
            assertThat(pom.texts("/project/parent | /project/build | /project/profiles | /project/repositories"))
                    .isEmpty();
            if (!artifact.equals("lockstep-bom")) {
                assertThat(pom.texts("/project/dependencyManagement")).isEmpty();
            }
            assertThat(pom.texts("//dependency/scope")).doesNotContain("test");
            assertThat(pom.texts("//dependency/version"))
                    .hasSameSizeAs(pom.texts("//dependency/artifactId"))
                    .allSatisfy(version -> assertThat(version)
                            .isNotEmpty()
                            .doesNotContain("${")
                            .doesNotEndWith("-SNAPSHOT"));
        });
    }

    @TestFactory
    Stream<DynamicTest> everyPomNamesOnlyPublishedModules() {
        Set<String> published = new TreeSet<>(
                Project.published().stream().map(Project::artifactId).toList());
        return forEach(artifact -> assertThat(
                        pom(artifact).texts("//dependency[groupId='dev.lockstep'][not(optional='true')]/artifactId"))
                .isSubsetOf(published));
    }

    @TestFactory
    Stream<DynamicTest> everyJarHasSourcesJavadocAndComponents() {
        return jars(artifact -> assertThat(first.files(artifact).keySet())
                .contains(
                        name(artifact, ".jar"),
                        name(artifact, "-sources.jar"),
                        name(artifact, "-javadoc.jar"),
                        name(artifact, "-cyclonedx.json"),
                        name(artifact, "-cyclonedx.xml")));
    }

    /** People download the command, rather than depend on it. */
    @Test
    void theCommandHasItsArchives() throws IOException {
        assertThat(first.files("lockstep-cli").keySet())
                .contains(
                        name("lockstep-cli", "-bin.tar.gz"),
                        name("lockstep-cli", "-bin.zip"),
                        name("lockstep-cli", "-torture.tar.gz"));
    }

    @TestFactory
    Stream<DynamicTest> everyJarIsAModule() {
        return jars(artifact -> {
            ModuleDescriptor module = module(artifact);
            String expected = artifact.equals("lockstep-core")
                    ? "dev.lockstep"
                    : artifact.replace("lockstep-annotations", "lockstep-annotation")
                            .replace('-', '.')
                            .replaceFirst("^", "dev.");
            assertThat(module.name()).isEqualTo(expected);
            assertThat(module.packages())
                    .allSatisfy(owned -> assertThat(owned + ".").startsWith(expected + "."));
        });
    }

    /** The module system allows each package in one module only. */
    @Test
    void noTwoJarsHaveAPackageInCommon() throws IOException {
        Map<String, String> owners = new HashMap<>();
        for (String artifact : jars()) {
            for (String owned : module(artifact).packages()) {
                assertThat(owners.put(owned, artifact)).as(owned).isNull();
            }
        }
    }

    /** A new dependency, a new license of one, or a new user of one, is noticed: docs/dependencies.md lists them all. */
    @Test
    void everyDependencyIsListedWithItsLicenseAndItsUsers() throws IOException {
        Map<String, String> licenses = new TreeMap<>();
        Map<String, Set<String>> users = new TreeMap<>();
        for (String artifact : jars()) {
            licenses(file(artifact, "-cyclonedx.xml")).forEach((dependency, license) -> {
                licenses.put(dependency, license);
                users.computeIfAbsent(dependency, unused -> new TreeSet<>())
                        .add(artifact.replaceFirst("^lockstep-", ""));
            });
        }
        Map<String, String> listed = new TreeMap<>();
        Map<String, Set<String>> listedUsers = new TreeMap<>();
        for (List<String> row : rows("dependency")) {
            listed.put(row.get(0), row.get(1));
            listedUsers.put(row.get(0), new TreeSet<>(List.of(row.get(2).split(", "))));
        }
        assertThat(listed).isEqualTo(licenses);
        assertThat(listedUsers).isEqualTo(users);
    }

    /** The licenses of a list of components, without those of this project. */
    private static Map<String, String> licenses(Path components) {
        Xml list = Xml.read(components);
        Map<String, String> found = new TreeMap<>();
        int size = list.texts("/bom/components/component").size();
        for (int i = 1; i <= size; i++) {
            String component = "/bom/components/component[" + i + "]/";
            String group = list.text(component + "group");
            List<String> licenses = list.texts(component + "licenses//*[self::id or self::name or self::expression]");
            if (!group.equals("dev.lockstep")) {
                found.put("`" + group + ":" + list.text(component + "name") + "`", String.join(", ", licenses));
            }
        }
        return found;
    }

    @Test
    void everyJarIsAsBigAsIsSaid() throws Exception {
        Rehearsal.delete(TARGET.resolve("sizes"));
        Map<String, List<String>> rows = new TreeMap<>();
        rows("artifact").forEach(row -> rows.put(row.get(0).replace("`", ""), row));
        Set<String> libraries = new TreeSet<>(jars());
        libraries.remove("lockstep-cli"); // its archive has a test of its own
        assertThat(rows.keySet()).isEqualTo(libraries);
        SoftAssertions checks = new SoftAssertions();
        for (String artifact : libraries) {
            List<Path> others =
                    new ArrayList<>(Elsewhere.classPath(first, TARGET.resolve("sizes/" + artifact), artifact));
            others.removeIf(jar -> jar.toString().contains("/dev/lockstep/"));
            List<String> row = Objects.requireNonNull(rows.get(artifact), artifact);
            checks.assertThat(Double.parseDouble(row.get(1)))
                    .as(artifact + ": its own size in KB")
                    .isCloseTo(Files.size(file(artifact, ".jar")) / 1_000.0, within(30.0));
            checks.assertThat(Integer.parseInt(row.get(2)))
                    .as(artifact + ": jars of others")
                    .isEqualTo(others.size());
            checks.assertThat(Double.parseDouble(row.get(3)))
                    .as(artifact + ": their size in MB")
                    .isCloseTo(bytes(others) / 1_000_000.0, within(0.1 + 0.02 * bytes(others) / 1_000_000.0));
        }
        checks.assertAll();
    }

    private static long bytes(List<Path> files) throws IOException {
        long sum = 0;
        for (Path file : files) {
            sum += Files.size(file);
        }
        return sum;
    }

    /** The rows of the table of docs/dependencies.md whose head begins so. */
    private static List<List<String>> rows(String head) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(Project.root().resolve("docs/dependencies.md"))) {
            inside = line.startsWith("| " + head + " |") || (inside && line.startsWith("|"));
            if (inside && line.startsWith("| `")) {
                rows.add(Stream.of(line.split("\\|"))
                        .map(String::strip)
                        .filter(cell -> !cell.isEmpty())
                        .toList());
            }
        }
        return rows;
    }

    @Test
    void aProjectElsewhereRunsTheReadmesExample() throws Exception {
        Path folder = elsewhere.resolve("example");
        Path code = Files.createDirectories(folder.resolve("src/main/java/dev/lockstep/examples"));
        for (String file : List.of("GettingStarted.java", "Row.java", "package-info.java")) {
            Files.copy(
                    Project.root().resolve("examples/src/main/java/dev/lockstep/examples/" + file), code.resolve(file));
        }
        String output = Elsewhere.maven(first, folder, "lockstep-redis", "compile", "exec:exec");
        assertThat(output).contains("shipped order 42").containsPattern("shipped order 42 with token \\d+");
    }

    private interface Check {
        void check(String artifact) throws Exception;
    }

    private static Stream<DynamicTest> forEach(Check check) {
        return Project.published().stream()
                .map(Project::artifactId)
                .map(artifact -> DynamicTest.dynamicTest(artifact, () -> check.check(artifact)));
    }

    private static List<String> jars() {
        return Project.published().stream()
                .map(Project::artifactId)
                .filter(artifact -> !artifact.equals("lockstep-bom"))
                .toList();
    }

    private static Stream<DynamicTest> jars(Check check) {
        return jars().stream().map(artifact -> DynamicTest.dynamicTest(artifact, () -> check.check(artifact)));
    }

    private String name(String artifact, String end) {
        return artifact + "-" + first.version() + end;
    }

    private Path file(String artifact, String end) throws IOException {
        return Objects.requireNonNull(
                first.files(artifact).get(name(artifact, end)), () -> "No " + name(artifact, end));
    }

    private Xml pom(String artifact) throws IOException {
        return Xml.read(file(artifact, ".pom"));
    }

    private ModuleDescriptor module(String artifact) throws IOException {
        Set<ModuleReference> modules = ModuleFinder.of(file(artifact, ".jar")).findAll();
        assertThat(modules).hasSize(1);
        return modules.iterator().next().descriptor();
    }
}
