package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lockstep.ClientSettings;
import dev.lockstep.Fallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockListener;
import dev.lockstep.LockObserver;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.EtcdEngine;
import dev.lockstep.jdbc.JdbcEngine;
import dev.lockstep.redis.RedisEngine;
import dev.lockstep.redis.redlock.RedlockEngine;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.zookeeper.ZooKeeperEngine;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every option, URL and error of the reference exists, and every one that exists is in the reference. */
class ReferenceTest {
    private static final String REFERENCE = "docs/reference.md";

    @Test
    void optionsOfClientsLocksAndTemplates() throws IOException {
        Set<String> documented = documented(span -> span.matches("\\w+\\(.*\\)"));
        Set<String> methods = new TreeSet<>();
        for (Class<?> type : List.of(LockClient.Builder.class, ClientSettings.class)) {
            addMethods(methods, type, method -> method.getReturnType() == LockClient.Builder.class);
        }
        addMethods(
                methods,
                LockOptions.class,
                method -> method.getReturnType() == LockOptions.class && !Modifier.isStatic(method.getModifiers()));
        addMethods(methods, LockTemplate.class, method -> true);
        addMethods(methods, Fallback.class, method -> method.getReturnType() == Fallback.class);
        addMethods(methods, LockListener.class, method -> true);
        addMethods(methods, LockObserver.class, method -> true);
        addMethods(methods, LockObserver.CallObserver.class, method -> true);
        assertThat(documented).isEqualTo(methods);
    }

    private static void addMethods(Set<String> methods, Class<?> type, Predicate<Method> which) {
        Stream.of(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .filter(which)
                .map(method -> method.getName()
                        + Arrays.stream(method.getParameterTypes())
                                .map(Class::getSimpleName)
                                .collect(Collectors.joining(", ", "(", ")")))
                .forEach(methods::add);
    }

    @Test
    void optionsOfEngines() throws IOException {
        Set<String> documented = new TreeSet<>();
        for (List<String> row : Guide.page(REFERENCE).table("object")) {
            for (String method : Page.spans(row.get(1))) {
                documented.add(Page.spans(row.get(0)).get(0) + " " + method);
            }
        }
        Set<String> existing = new TreeSet<>();
        for (Class<?> type : List.of(
                RedisEngine.class, RedlockEngine.class, ZooKeeperEngine.class, EtcdEngine.class, JdbcEngine.class)) {
            Set<String> methods = new TreeSet<>();
            addMethods(
                    methods,
                    type,
                    method -> method.getReturnType() == type && !Modifier.isStatic(method.getModifiers()));
            methods.forEach(method -> existing.add(type.getSimpleName() + " " + method));
        }
        assertThat(documented).isEqualTo(existing);
    }

    @Test
    void errors() throws IOException {
        Set<String> existing = new TreeSet<>();
        for (Path file : Guide.files(Guide.root().resolve("core/src/main/java/dev/lockstep"), "Exception.java")) {
            existing.add(file.getFileName().toString().replace(".java", ""));
        }
        assertThat(existing).isNotEmpty();
        assertThat(documented(span -> span.endsWith("Exception"))).isEqualTo(existing);
    }

    @Test
    void reasonsOfLossAndOutcomes() throws IOException {
        Set<String> existing = Stream.of(
                        LossReason.values(), LockObserver.CallOutcome.values(), LockObserver.HoldOutcome.values())
                .flatMap(Stream::of)
                .map(Enum::name)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(documented(span -> span.matches("[A-Z_]+"))).isEqualTo(existing);
    }

    @Test
    void schemes() throws IOException {
        Set<String> existing = new TreeSet<>();
        ServiceLoader.load(BackendProvider.class).forEach(provider -> existing.addAll(provider.schemes()));
        Set<String> documented = new TreeSet<>();
        for (List<String> row : Guide.page(REFERENCE).table("scheme")) {
            documented.addAll(Page.spans(row.get(0)));
        }
        assertThat(documented).isEqualTo(existing);
    }

    /** The first column of the tables of the reference, as far as a condition holds. */
    private static Set<String> documented(Predicate<String> which) throws IOException {
        Set<String> found = new TreeSet<>();
        for (List<String> row : Guide.page(REFERENCE).rows()) {
            Page.spans(row.get(0)).stream().filter(which).forEach(found::add);
        }
        return found;
    }

    /** An engine that is asked for an option that it does not have says which it has. */
    @ParameterizedTest
    @CsvSource({
        "redis, redis://localhost?none=1, redis://localhost?",
        "redlock, 'redlock://a,b,c?queue=on', 'redlock://a,b,c?'",
        "zookeeper, zookeeper://localhost?none=1, zookeeper://localhost?",
        "etcd, etcds://localhost?none=1, etcds://localhost?",
        "sql, jdbc:sqlite:x?lockstep.none=1, jdbc:sqlite:x?lockstep."
    })
    void parametersOfUrls(String engine, String wrong, String before) throws IOException {
        Set<String> documented = new TreeSet<>();
        for (List<String> row : Guide.page("docs/engines/" + engine + ".md").rows()) {
            for (String span : Page.spans(row.get(0))) {
                Matcher parameter = Pattern.compile("(?:lockstep\\.)?(\\w+)(?:\\.\\w+)?=.*|lockstep\\.(\\w+)")
                        .matcher(span);
                if (parameter.matches()) {
                    documented.add(parameter.group(1) != null ? parameter.group(1) : parameter.group(2));
                }
            }
        }
        String message = catchThrowableOfType(LockConfigurationException.class, () -> parse(wrong))
                .getMessage();
        Matcher list = Pattern.compile("(?:ptions|sensitive\\)|nown) are ([\\w, .]+?and [\\w]+)")
                .matcher(message);
        assertThat(list.find()).as(message).isTrue();
        Set<String> known = new TreeSet<>(List.of(list.group(1).split(", | and ")));
        assertThat(documented).isEqualTo(known);
        assertThat(documented)
                .allSatisfy(name ->
                        assertThat(isKnown(before + example(name) + "=")).isTrue());
        assertThat(isKnown(before + "none=")).isFalse();
    }

    private static String example(String name) {
        return name.equals("zookeeper") ? "zookeeper.client.secure" : name; // a whole family of them
    }

    /** Whether an engine complains about the value, or not at all, rather than about the name. */
    private static boolean isKnown(String url) {
        List<String> complaints = new ArrayList<>();
        for (String value : List.of("1", "on", "open", "true", "5s")) {
            try {
                parse(url + value);
                return true;
            } catch (LockConfigurationException e) {
                complaints.add(String.valueOf(e.getMessage()));
            }
        }
        return complaints.stream().noneMatch(text -> text.matches(".*(ptions|sensitive\\)|nown) are.*"));
    }

    @Test
    void everyUrlIsUnderstood() throws IOException {
        Set<String> urls = new TreeSet<>();
        for (Guide.Pair pair : Guide.pairs()) {
            Page page = Guide.page(pair.english());
            page.blocks().stream()
                    .filter(block -> block.language().isEmpty())
                    .flatMap(block -> block.text().lines())
                    .forEach(urls::add);
            urls.addAll(Page.spans(Files.readString(page.file()).replaceAll("(?s)```.*?```", "")));
        }
        urls.removeIf(url -> !url.matches("memory:\\w*|jdbc:\\w+:\\S+|(?:redis|redlock|zookeeper|etcd)[a-z-]*://\\S+"));
        // Text with brackets, or with an ellipsis for more than a value, is the form of a URL and not a URL.
        urls.removeIf(url -> url.matches(".*(\\[|(?<!=)…).*"));
        assertThat(urls).contains("memory:", "jdbc:sqlite:locks.db", "redis://localhost:6379");
        assertThat(urls).allSatisfy(url -> assertThatCode(() -> parse(url)).doesNotThrowAnyException());
    }

    private static void parse(String url) {
        String scheme = url.substring(0, url.indexOf(':'));
        ServiceLoader.load(BackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.schemes().contains(scheme))
                .findFirst()
                .orElseThrow()
                .parse(url);
    }
}
