package dev.lockstep.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.ByteArrayInputStream;
import java.lang.module.ModuleDescriptor;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/** Each rule on a small project that breaks it: a rule that cannot fail protects nothing. */
class RulesCanFailTest {
    private static final String OFFENDING = "dev.lockstep.architecture.offending";
    private static final Rules RULES = new Rules(OFFENDING);
    private static final JavaClasses CLASSES = importOffending();

    @Test
    void signatureThatMentionsInternals() {
        assertBroken(
                RULES.signaturesDoNotMentionInternals(),
                "Api.returned()> mentions " + OFFENDING + ".internal.Secret",
                "Api.parameter(java.util.List)> mentions " + OFFENDING + ".internal.Secret",
                "Api.field> mentions " + OFFENDING + ".internal.Secret",
                "Api.thrown()> mentions " + OFFENDING + ".internal.SecretException",
                "spi.Spi> mentions " + OFFENDING + ".internal.Secret");
    }

    @Test
    void fileOrMethodThatIsTooLong() {
        Path sources = Project.root().resolve("testing/architecture/src/test/java/dev/lockstep/architecture");
        assertThat(new SourceSize(50, 5).tooLong(List.of(sources)))
                .anyMatch(text -> text.matches(".*Rules\\.java has \\d+ lines"))
                .anyMatch(text -> text.matches(".*Rules\\.java: engineKnowsOnlyTheSpi has \\d+ lines"));
    }

    @Test
    void privateUseIsNotASignature() {
        assertThat(RULES.signaturesDoNotMentionInternals()
                        .evaluate(CLASSES)
                        .getFailureReport()
                        .toString())
                .doesNotContain("hiddenUse");
    }

    @Test
    void internalsUsedOutsideTheBuilder() {
        assertBroken(RULES.onlyTheBuilderKnowsInternals(), "Api.hiddenUse()", "spi.Spi");
        assertThat(RULES.onlyTheBuilderKnowsInternals()
                        .evaluate(CLASSES)
                        .getFailureReport()
                        .toString())
                .doesNotContain("LockClient$Builder.connect");
    }

    @Test
    void partOfInternalsThatCallsAnother() {
        assertBroken(
                RULES.partCallsOnly("lower", Set.of()), "lower.Caller.call()", OFFENDING + ".internal.upper.Called");
        assertThat(RULES.partCallsOnly("lower", Set.of("upper"))
                        .evaluate(CLASSES)
                        .hasViolation())
                .isFalse();
        assertThat(RULES.parts(CLASSES)).containsExactlyInAnyOrder("lower", "upper", "turnstile");
    }

    @Test
    void decisionThatActs() {
        assertBroken(
                RULES.decisionsDoNotAct(Set.of("Decision"), Set.of("Action")),
                "Decision.act()",
                "Decision$Nested.act()",
                "Decision.request(");
        assertThat(RULES.decisionsDoNotAct(Set.of("Decision"), Set.of("Action"))
                        .evaluate(CLASSES)
                        .getFailureReport()
                        .toString())
                .doesNotContain("Decision.read(");
    }

    @Test
    void actionThatDecides() {
        assertBroken(RULES.actionsDoNotDecide(Set.of("Action"), Set.of("Decision")), "Action.decide()");
    }

    @Test
    void decisionThatSetsATimer() {
        assertBroken(
                RULES.timersAndUsersCodeAreLeftTo(Set.of("Action")),
                "Decision.setTimer(",
                "Decision.cancelTimer(",
                "Decision.watch(");
        assertThat(RULES.timersAndUsersCodeAreLeftTo(Set.of("Action"))
                        .evaluate(CLASSES)
                        .getFailureReport()
                        .toString())
                .doesNotContain("Decision.time(")
                .doesNotContain("Action.setTimer(");
    }

    @Test
    void engineThatReachesIntoInternalsOrAnotherLibrary() {
        assertBroken(
                RULES.engineKnowsOnlyTheSpi("memory"),
                OFFENDING + ".internal.Secret",
                "org.assertj.core.api.Assertions");
    }

    @Test
    void engineMayUseItsOwnClient() {
        assertThat(RULES.engineKnowsOnlyTheSpi("memory", "org.assertj..")
                        .evaluate(CLASSES)
                        .getFailureReport()
                        .toString())
                .doesNotContain("org.assertj.core.api.Assertions");
    }

    @Test
    void coreThatDependsOnAnotherLibrary() {
        assertBroken(RULES.coreDependsOnNothing(), "org.assertj.core.api.Assertions");
    }

    @Test
    void pomThatDependsOnAnotherLibrary() throws Exception {
        String pom = "<project><dependencies>"
                + "<dependency><artifactId>guava</artifactId></dependency>"
                + "<dependency><artifactId>junit</artifactId><scope>test</scope></dependency>"
                + "</dependencies></project>";
        assertThat(Project.runtimeDependencies(DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(new ByteArrayInputStream(pom.getBytes(StandardCharsets.UTF_8)))))
                .containsExactly("guava");
    }

    @Test
    void wallClockRead() {
        assertBroken(RULES.wallClockIsNotRead(), "Sleeper.now()");
    }

    @Test
    void sleep() {
        assertBroken(RULES.nothingSleeps(), "Sleeper.threadSleep()", "Sleeper.unitSleep()");
    }

    @Test
    void publicTypeInPackageThatIsNotExported() {
        ModuleDescriptor module =
                ModuleDescriptor.newModule("offending").exports(OFFENDING).build();
        assertBroken(RULES.publicTypesAreExported(module), OFFENDING + ".hidden.Unreachable");
        assertThat(RULES.publicTypesAreExported(module)
                        .evaluate(CLASSES)
                        .getFailureReport()
                        .toString())
                .doesNotContain("internal.Secret");
    }

    @Test
    void qualifiedExportDoesNotCount() {
        ModuleDescriptor module = ModuleDescriptor.newModule("offending")
                .exports(OFFENDING + ".hidden", Set.of("friend"))
                .build();
        assertBroken(RULES.publicTypesAreExported(module), OFFENDING + ".hidden.Unreachable");
    }

    @Test
    void exportedInternals() {
        assertThat(Rules.exportsInternals(
                        ModuleDescriptor.newModule("m").exports("a.internal").build()))
                .isTrue();
        assertThat(Rules.exportsInternals(
                        ModuleDescriptor.newModule("m").exports("a.internal.b").build()))
                .isTrue();
        assertThat(Rules.exportsInternals(
                        ModuleDescriptor.newModule("m").exports("a.internals").build()))
                .isFalse();
    }

    private static void assertBroken(ArchRule rule, String... details) {
        assertThatThrownBy(() -> rule.check(CLASSES))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll(details);
    }

    private static JavaClasses importOffending() {
        try {
            Path testClasses = Path.of(RulesCanFailTest.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            return new ClassFileImporter().importPath(testClasses.resolve(OFFENDING.replace('.', '/')));
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
