package dev.lockstep.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.base.HasDescription;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.lang.module.ModuleDescriptor;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The rules, for a project whose API is in a given package. The package is a parameter so that each rule can be shown
 * to fail on a small offending project.
 */
final class Rules {
    /** The types of the SPI by which an engine is asked, and those of their methods that only read a field. */
    private static final Set<String> ENGINE = Set.of("LockBackend", "Claim", "Grant");

    private static final Set<String> READS = Set.of(
            "traits", "address", "lastContactNanos", "batchSize", "mustWait", "token", "validUntilNanos", "isWanted");

    /** The types by which timers are set and cancelled, and users' code is run, and those of their methods that do so. */
    private static final Map<String, Set<String>> LATER = Map.of(
            "Scheduler", Set.of("schedule", "afterJumps"),
            "Scheduler$Timer", Set.of("cancel"),
            "TurnstileContext",
                    Set.of("watchDeadline", "watchOutage", "watchWait", "endWait", "execute", "runLossAction"));

    private final String api;
    private final String spi;
    private final String internal;

    Rules(String api) {
        this.api = api;
        this.spi = api + ".spi";
        this.internal = api + ".internal";
    }

    /** The API of users and backend authors never mentions internals, which may change. */
    ArchRule signaturesDoNotMentionInternals() {
        return classes()
                .that()
                .resideInAnyPackage(api, spi)
                .should(notMentionInSignatures(resideInAnyPackage(internal + "..")))
                .because("internals change freely, and users could neither name nor keep such a type");
    }

    /** One door between the API and its implementation. */
    ArchRule onlyTheBuilderKnowsInternals() {
        return noClasses()
                .that()
                .resideInAnyPackage(api, spi)
                .and()
                .doNotHaveFullyQualifiedName(api + ".LockClient$Builder")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(internal + "..")
                .because("the builder of LockClient is the one door to the implementation");
    }

    /** An engine uses the API, the SPI and its own client. */
    ArchRule engineKnowsOnlyTheSpi(String engine, String... clientPackages) {
        String[] allowed = Stream.concat(
                        Stream.of(
                                api,
                                spi,
                                api + "." + engine + "..",
                                "java..",
                                "javax.net..",
                                "javax.sql..",
                                "org.slf4j..",
                                "org.jspecify.."),
                        Stream.of(clientPackages))
                .toArray(String[]::new);
        return classes()
                .that()
                .resideInAPackage(api + "." + engine + "..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed)
                .because("a backend is written against the published SPI, as a stranger's would be");
    }

    /** The core brings nothing with it but the logging facade and the null annotations; the JDK's flight recorder is optional. */
    ArchRule coreDependsOnNothing() {
        return classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(api + "..", "java..", "jdk.jfr..", "org.slf4j..", "org.jspecify..")
                .because("every user inherits what the core depends on");
    }

    /**
     * Inside the core calls go one way.
     *
     * @param part a package of internals
     * @param others those that it may call
     */
    ArchRule partCallsOnly(String part, Set<String> others) {
        String[] allowed = Stream.concat(
                        Stream.of(
                                api,
                                spi,
                                internal + "." + part,
                                "java..",
                                "jdk.jfr..",
                                "org.slf4j..",
                                "org.jspecify.."),
                        others.stream().map(other -> internal + "." + other))
                .toArray(String[]::new);
        return classes()
                .that()
                .resideInAPackage(internal + "." + part)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed)
                .because("the page of each package says what it may call");
    }

    /**
     * In a turnstile, what decides does not act: a request is an effect, made when the mutex has been left.
     *
     * @param decide the classes that decide
     * @param act the classes that perform effects
     */
    ArchRule decisionsDoNotAct(Set<String> decide, Set<String> act) {
        return noClasses()
                .that(areInTurnstile(decide))
                .should()
                .dependOnClassesThat(areInTurnstile(act))
                .orShould()
                .callMethodWhere(describe(
                        "a request to an engine",
                        call -> call.getTargetOwner().getPackageName().equals(spi)
                                && ENGINE.contains(call.getTargetOwner().getSimpleName())
                                && !READS.contains(call.getName())))
                .because("decisions are made under the mutex, and effects are data");
    }

    /** In a turnstile, what acts does not decide: its results are events, which enter at the top. */
    ArchRule actionsDoNotDecide(Set<String> act, Set<String> decide) {
        return noClasses()
                .that(areInTurnstile(act))
                .should()
                .dependOnClassesThat(areInTurnstile(decide))
                .because("an effect never calls back into decisions");
    }

    /**
     * In a turnstile, no timer is set or cancelled, and no users' code is run, while a decision is made.
     *
     * @param allowed the classes that do it, without the mutex
     */
    ArchRule timersAndUsersCodeAreLeftTo(Set<String> allowed) {
        return noClasses()
                .that()
                .resideInAPackage(internal + ".turnstile")
                .and(DescribedPredicate.not(areInTurnstile(allowed)))
                .should()
                .callMethodWhere(describe("a timer, or users' code", call -> {
                    JavaClass owner = call.getTargetOwner();
                    String type =
                            owner.getName().substring(owner.getPackageName().length() + 1);
                    return owner.getPackageName().startsWith(api)
                            && LATER.getOrDefault(type, Set.of()).contains(call.getName());
                }))
                .because("a timer is an effect like every other: the decision only says which");
    }

    private DescribedPredicate<JavaClass> areInTurnstile(Set<String> names) {
        return describe(
                "are one of " + names,
                type -> type.getPackageName().equals(internal + ".turnstile") && names.contains(outermost(type)));
    }

    private static String outermost(JavaClass type) {
        return type.getEnclosingClass().map(Rules::outermost).orElseGet(type::getSimpleName);
    }

    /** The packages of internals that have classes, without those that are not directly below it. */
    Set<String> parts(JavaClasses classes) {
        return classes.stream()
                .map(JavaClass::getPackageName)
                .filter(name -> name.startsWith(internal + "."))
                .map(name -> name.substring(internal.length() + 1))
                .collect(Collectors.toSet());
    }

    /** A lease lives by a clock that never goes back. The one class that makes it needs the wall clock, too. */
    ArchRule wallClockIsNotRead() {
        return noClasses()
                .that()
                .doNotHaveFullyQualifiedName(internal + ".time.SystemScheduler")
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .because("a wall clock jumps; use Scheduler.nanoTime, or System.nanoTime for a wait");
    }

    /** Waiting is for a condition, never for a time. */
    ArchRule nothingSleeps() {
        return noClasses()
                .should()
                .callMethodWhere(describe("Thread.sleep or TimeUnit.sleep", call -> {
                    JavaClass owner = call.getTargetOwner();
                    return call.getName().equals("sleep")
                            && (owner.isAssignableTo(Thread.class) || owner.isEquivalentTo(TimeUnit.class));
                }))
                .because("a sleeping thread neither sees its condition nor its deadline; wait for the condition");
    }

    /** The module exports each type that a user may need to name. */
    ArchRule publicTypesAreExported(ModuleDescriptor module) {
        Set<String> exported = new HashSet<>();
        for (ModuleDescriptor.Exports exports : module.exports()) {
            if (!exports.isQualified()) {
                exported.add(exports.source());
            }
        }
        return classes()
                .that()
                .arePublic()
                .and()
                .resideOutsideOfPackage(internal + "..")
                .should()
                .resideInAnyPackage(exported.toArray(String[]::new))
                .because("a public type that is not exported is either not meant to be public or out of reach");
    }

    /** Internals stay at home. */
    static boolean exportsInternals(ModuleDescriptor module) {
        return module.exports().stream().anyMatch(exports -> exports.source().matches(".*\\.internal(\\..*)?"));
    }

    private static ArchCondition<JavaClass> notMentionInSignatures(DescribedPredicate<JavaClass> forbidden) {
        return new ArchCondition<>("not mention classes that " + forbidden.getDescription() + " in signatures") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                type.getSuperclass().ifPresent(parent -> report(type, type, parent, events));
                type.getInterfaces().forEach(parent -> report(type, type, parent, events));
                type.getTypeParameters().forEach(parameter -> report(type, type, parameter, events));
                for (JavaField field : type.getFields()) {
                    if (isVisible(field.getModifiers())) {
                        report(type, field, field.getType(), events);
                    }
                }
                for (JavaCodeUnit unit : type.getCodeUnits()) {
                    if (isVisible(unit.getModifiers())) {
                        report(type, unit, unit.getReturnType(), events);
                        unit.getParameterTypes().forEach(parameter -> report(type, unit, parameter, events));
                        unit.getTypeParameters().forEach(parameter -> report(type, unit, parameter, events));
                        unit.getThrowsClause().getTypes().forEach(thrown -> report(type, unit, thrown, events));
                    }
                }
            }

            private void report(JavaClass type, HasDescription member, JavaType mentioned, ConditionEvents events) {
                for (JavaClass raw : mentioned.getAllInvolvedRawTypes()) {
                    if (forbidden.test(raw)) {
                        events.add(SimpleConditionEvent.violated(
                                type, member.getDescription() + " mentions " + raw.getName()));
                    }
                }
            }
        };
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }
}
