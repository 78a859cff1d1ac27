package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The parts that a native image would leave out unless they are named: files that are read, services, and classes that
 * are found by name. Each jar names its own in {@code META-INF/native-image}; those of Spring are in {@code
 * META-INF/spring/aot.factories}.
 */
class NativeImageTest {
    private static final Pattern INCLUDED = Pattern.compile("\"pattern\": \"([^\"]*)\"");
    private static final Pattern CLASS_BY_NAME =
            Pattern.compile("(?:Class\\.forName|ClassUtils\\.isPresent)\\(\\s*\"([^\"]+)\"");
    private static final Pattern MEMBER_BY_NAME =
            Pattern.compile("(\\w+)\\.class\\s*\\.getDeclared(?:Field|Method)\\(\\s*\"(\\w+)\"");
    /** GraalVM looks for the field itself only where these arguments are constants: not behind {@code Handles.of}. */
    private static final Pattern HANDLE_BY_NAME =
            Pattern.compile("\\b(?:findVarHandle|Handles\\.of)\\([^;]*?(\\w+)\\.class,\\s*\"(\\w+)\"");

    /** A file beside a class, of this project or of another. */
    private static final Pattern RESOURCE_BY_NAME =
            Pattern.compile("(\\w+)\\.class\\s*\\.getResource(?:AsStream)?\\(\\s*\"([^\"]+)\"\\s*\\)");

    private static final Pattern MESSAGE = Pattern.compile("(?m)^\\s*message (\\w+)");

    private interface Check {
        void check(Path module, String name) throws IOException;
    }

    @TestFactory
    Stream<DynamicTest> everyResourceIsIncluded() {
        return forEach((module, name) -> {
            List<Pattern> included = new ArrayList<>();
            Matcher pattern = INCLUDED.matcher(config(module, name, "resource-config.json"));
            while (pattern.find()) {
                included.add(Pattern.compile(pattern.group(1).replace("\\\\", "\\")));
            }
            List<String> read = new ArrayList<>(resources(module));
            read.addAll(resourcesByName(module));
            for (String resource : read) {
                assertThat(included)
                        .as(resource)
                        .anyMatch(each -> each.matcher(resource).matches());
            }
            for (Pattern each : included) {
                assertThat(read)
                        .as(each.pattern())
                        .anyMatch(resource -> each.matcher(resource).matches());
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> everyServiceCanBeMade() {
        return forEach((module, name) -> {
            Path services = module.resolve("src/main/resources/META-INF/services");
            if (Files.isDirectory(services)) {
                for (Path service : list(services)) {
                    for (String provider : Files.readAllLines(service)) {
                        assertThat(reflection(module, name))
                                .contains("{\"name\":\"" + provider
                                        + "\",\"methods\":[{\"name\":\"<init>\",\"parameterTypes\":[]}]}");
                    }
                }
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> everyClassAndMemberThatIsFoundByNameIsKept() {
        return forEach((module, name) -> {
            if (List.of("lockstep-spring", "lockstep-spring-boot").contains(name)) {
                return; // Spring's own hints do it; integrations/spring-boot tests them.
            }
            for (Path source : walk(module.resolve("src/main/java"), ".java")) {
                String code = Files.readString(source);
                Matcher byName = CLASS_BY_NAME.matcher(code);
                while (byName.find()) {
                    assertThat(reflection(module, name)).contains("\"name\":\"" + byName.group(1) + "\"");
                }
                for (Pattern pattern : List.of(MEMBER_BY_NAME, HANDLE_BY_NAME)) {
                    Matcher member = pattern.matcher(code);
                    while (member.find()) {
                        assertThat(reflection(module, name))
                                .containsPattern("\"name\":\"[\\w.]+\\." + member.group(1)
                                        + "\",\"(fields|methods)\".{0,60}?\"name\":\"" + member.group(2) + "\"");
                    }
                }
            }
        });
    }

    /** Protocol buffers read and write messages by the fields of their classes. */
    @TestFactory
    Stream<DynamicTest> everyMessageKeepsItsFields() {
        return forEach((module, name) -> {
            for (Path proto : walk(module.resolve("src/main/protobuf"), ".proto")) {
                Matcher message = MESSAGE.matcher(Files.readString(proto));
                while (message.find()) {
                    assertThat(reflection(module, name))
                            .containsPattern(
                                    "\"name\":\"[\\w.$]+\\$" + message.group(1) + "\",\"allDeclaredFields\":true");
                }
            }
        });
    }

    private static Stream<DynamicTest> forEach(Check check) {
        return Project.published().stream()
                .filter(module -> !module.equals("tools/cli")) // a program that runs on a JVM
                .map(module -> DynamicTest.dynamicTest(
                        module, () -> check.check(Project.root().resolve(module), Project.artifactId(module))));
    }

    /** The files that a jar brings to be read, and lists of services. Spring reads its own while it builds the image. */
    private static List<String> resources(Path module) throws IOException {
        Path folder = module.resolve("src/main/resources");
        return walk(folder, "").stream()
                .map(file -> folder.relativize(file).toString())
                .filter(file -> !file.startsWith("META-INF/native-image/")
                        && !file.startsWith("META-INF/spring")
                        && !file.startsWith("META-INF/additional-spring"))
                .toList();
    }

    /** The files that the code reads from the jars of others, or of its own, under a fixed name. */
    private static List<String> resourcesByName(Path module) throws IOException {
        List<String> names = new ArrayList<>();
        for (Path source : walk(module.resolve("src/main/java"), ".java")) {
            String code = Files.readString(source);
            Matcher read = RESOURCE_BY_NAME.matcher(code);
            while (read.find()) {
                Matcher imported = Pattern.compile("(?m)^import ([\\w.]+)\\." + read.group(1) + ";")
                        .matcher(code);
                Matcher own = Pattern.compile("(?m)^package ([\\w.]+);").matcher(code);
                assertThat(own.find()).isTrue();
                String owner = imported.find() ? imported.group(1) : own.group(1);
                String name = read.group(2);
                names.add(name.startsWith("/") ? name.substring(1) : owner.replace('.', '/') + "/" + name);
            }
        }
        return names;
    }

    private static String config(Path module, String name, String file) throws IOException {
        Path config = module.resolve("src/main/resources/META-INF/native-image/dev.lockstep/" + name + "/" + file);
        return Files.exists(config) ? Files.readString(config) : "";
    }

    /** Without white space. */
    private static String reflection(Path module, String name) throws IOException {
        return config(module, name, "reflect-config.json").replaceAll("\\s+", "");
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }

    private static List<Path> walk(Path folder, String end) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> file.toString().endsWith(end))
                    .sorted()
                    .toList();
        }
    }
}
