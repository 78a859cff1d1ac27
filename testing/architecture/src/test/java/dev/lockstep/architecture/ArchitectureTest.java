package dev.lockstep.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** The rules, on the project itself. */
class ArchitectureTest {
    /** The packages of each engine's own client. An engine that is not listed has none. */
    private static final Map<String, String[]> ENGINE_CLIENTS = Map.of(
            "redis", new String[] {"redis.clients.jedis..", "org.apache.commons.pool2.."},
            "zookeeper", new String[] {"org.apache.zookeeper.."},
            "etcd", new String[] {"io.grpc..", "com.google.protobuf.."},
            "jdbc", new String[] {"com.zaxxer.hikari..", "org.postgresql.."});

    /**
     * The packages that each package of the core's internals may call. The pages of the packages say the same, which is
     * checked, too.
     */
    private static final Map<String, Set<String>> PARTS = Map.ofEntries(
            Map.entry(
                    "client",
                    Set.of(
                            "lock",
                            "election",
                            "semaphore",
                            "watch",
                            "waits",
                            "fallback",
                            "turnstile",
                            "engine",
                            "events",
                            "concurrent",
                            "time")),
            Map.entry("election", Set.of("concurrent")),
            Map.entry("semaphore", Set.of("concurrent")),
            Map.entry("lock", Set.of("watch", "turnstile", "events", "concurrent")),
            Map.entry("watch", Set.of("turnstile", "semaphore", "engine", "events", "concurrent")),
            Map.entry("waits", Set.of("turnstile", "events", "concurrent")),
            Map.entry("fallback", Set.of("engine", "events", "concurrent")),
            Map.entry("turnstile", Set.of("engine", "events", "concurrent")),
            Map.entry("engine", Set.of()),
            Map.entry("events", Set.of("concurrent")),
            Map.entry("time", Set.of("concurrent")),
            Map.entry("concurrent", Set.of()));

    /** The classes of a turnstile that decide, under its mutex. */
    private static final Set<String> DECIDE = Set.of(
            "Rules",
            "Arrivals",
            "Claims",
            "Losses",
            "Leftovers",
            "Answers",
            "WaitReports",
            "WaitRecords",
            "TurnstileState");

    /** The classes of a turnstile that perform effects, without the mutex. */
    private static final Set<String> ACT = Set.of("Actions", "ClaimBatch", "ReleaseBatch");

    /** The classes of a turnstile that set timers and run users' code: those that act, and those of a thread on its own behalf. */
    private static final Set<String> SET_TIMERS =
            Set.of("Actions", "Releases", "ThreadWait", "InlineClaim", "TurnstileContext");

    private static final Rules RULES = new Rules("dev.lockstep");
    private static final JavaClasses CORE = Project.mainClasses(List.of("core"));
    private static final JavaClasses ALL = Project.mainClasses(Project.modulesWithMainCode());

    @Test
    void signaturesOfApiAndSpiDoNotMentionInternals() {
        RULES.signaturesDoNotMentionInternals().check(CORE);
    }

    @Test
    void onlyTheBuilderOfLockClientKnowsInternals() {
        RULES.onlyTheBuilderKnowsInternals().check(CORE);
    }

    @TestFactory
    Stream<DynamicTest> everyPackageOfInternalsCallsWhatItMay() {
        return PARTS.entrySet().stream()
                .map(part -> DynamicTest.dynamicTest(
                        part.getKey(),
                        () -> RULES.partCallsOnly(part.getKey(), part.getValue())
                                .check(CORE)));
    }

    @Test
    void everyPackageOfInternalsHasARule() {
        assertThat(RULES.parts(CORE)).containsExactlyInAnyOrderElementsOf(PARTS.keySet());
    }

    @TestFactory
    Stream<DynamicTest> thePageOfEveryPackageOfInternalsNamesWhatItMayCall() {
        return PARTS.entrySet().stream()
                .map(part -> DynamicTest.dynamicTest(
                        part.getKey(), () -> assertThat(onPage(part.getKey())).containsAll(part.getValue())));
    }

    /** The packages that a page names behind "May call", and those that they may call if it says "and below". */
    private static Set<String> onPage(String part) throws IOException {
        String page = Files.readString(Project.root()
                        .resolve("core/src/main/java/dev/lockstep/internal/" + part + "/package-info.java"))
                .replaceAll("\\s+\\*?\\s*", " ");
        Matcher sentence = Pattern.compile("May call ([^.;]*)").matcher(page);
        if (!sentence.find()) {
            return Set.of();
        }
        if (sentence.group(1).equals("every other package")) {
            return PARTS.keySet();
        }
        Set<String> named = new HashSet<>();
        PARTS.keySet().stream()
                .filter(name -> sentence.group(1).contains("{@code " + name + "}"))
                .forEach(named::add);
        if (sentence.group(1).endsWith(" and below")) {
            List.copyOf(named).forEach(name -> named.addAll(PARTS.get(name)));
        }
        return named;
    }

    @Test
    void decidingClassesOfATurnstileDoNotAct() {
        RULES.decisionsDoNotAct(DECIDE, ACT).check(CORE);
    }

    @Test
    void actingClassesOfATurnstileDoNotDecide() {
        RULES.actionsDoNotDecide(ACT, DECIDE).check(CORE);
    }

    @Test
    void noDecisionInATurnstileSetsATimer() {
        RULES.timersAndUsersCodeAreLeftTo(SET_TIMERS).check(CORE);
    }

    @Test
    void theClassesThatDecideAndActAreThere() {
        Stream.of(DECIDE, ACT, SET_TIMERS)
                .flatMap(Set::stream)
                .forEach(name -> assertThat(CORE.contain("dev.lockstep.internal.turnstile." + name))
                        .as(name)
                        .isTrue());
    }

    @Test
    void memoryEngineKnowsOnlyTheSpi() {
        RULES.engineKnowsOnlyTheSpi("memory").check(CORE);
    }

    @TestFactory
    Stream<DynamicTest> everyBackendKnowsOnlyTheSpiAndItsClient() {
        return Project.modulesWithMainCode().stream()
                .filter(module -> module.startsWith("backends/"))
                .map(module -> DynamicTest.dynamicTest(module, () -> {
                    String engine = module.substring("backends/".length());
                    RULES.engineKnowsOnlyTheSpi(engine, ENGINE_CLIENTS.getOrDefault(engine, new String[0]))
                            .check(Project.mainClasses(List.of(module)));
                }));
    }

    @Test
    void codeThatRedisAndRedlockShareUsesNeither() {
        noClasses()
                .that()
                .resideInAPackage("dev.lockstep.redis.internal..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.lockstep.redis", "dev.lockstep.redis.redlock..")
                .because("both engines are built on it, and neither on the other")
                .check(Project.mainClasses(List.of("backends/redis")));
    }

    /** So that a file reads in one sitting, and a method fits on a screen. */
    @Test
    void noFileOfMainCodeIsLongerThan400LinesAndNoMethodThan60() {
        assertThat(new SourceSize(400, 60).tooLong(Project.mainSources())).isEmpty();
    }

    @Test
    void coreDependsOnSlf4jAndJspecifyAlone() {
        RULES.coreDependsOnNothing().check(CORE);
        assertThat(Project.runtimeDependencies(Project.readPom(Project.root().resolve("core/pom.xml"))))
                .containsExactlyInAnyOrder("slf4j-api", "jspecify");
    }

    /** A parent's managed versions would come along and replace those of the application. */
    @Test
    void theBomManagesOnlyLockstepsArtifacts() {
        Document bom = Project.readPom(Project.root().resolve("bom/pom.xml"));
        assertThat(bom.getElementsByTagName("parent").getLength()).isZero();
        Element managed =
                (Element) bom.getElementsByTagName("dependencyManagement").item(0);
        assertThat(Project.texts(managed.getElementsByTagName("groupId"))).containsOnly("dev.lockstep");
        assertThat(Project.texts(bom.getElementsByTagName("version")))
                .first()
                .isEqualTo(Project.texts(Project.readPom(Project.root().resolve("pom.xml"))
                                .getElementsByTagName("version"))
                        .get(0));
        assertThat(Project.texts(bom.getElementsByTagName("artifactId"))).containsAll(Project.published());
    }

    @Test
    void mainCodeDoesNotReadTheWallClock() {
        RULES.wallClockIsNotRead().check(ALL);
    }

    @Test
    void mainCodeDoesNotSleep() {
        RULES.nothingSleeps().check(ALL);
    }

    @Test
    void publicTypesOfTheCoreAreExportedAndInternalsAreNot() throws IOException {
        try (InputStream in = Files.newInputStream(Project.root().resolve("core/target/classes/module-info.class"))) {
            ModuleDescriptor module = ModuleDescriptor.read(in);
            RULES.publicTypesAreExported(module).check(CORE);
            assertThat(Rules.exportsInternals(module)).isFalse();
        }
    }
}
