package dev.lockstep.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Projects whose parent is Spring Boot's, for their class paths. Maven resolves them together with copies of this project's poms,
 * so that Boot manages the versions as it does for users; the classes of this project are those that this build has compiled.
 *
 * @param folder where they are
 */
record BootProject(Path folder) {
    static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    /** How names of projects begin in which Boot manages every version. */
    static final String ALL_OF_BOOT = "boot";

    /** The versions with which the tests are compiled. */
    private static final String COMPILED_WITH =
            "<junit-jupiter.version>6.1.3</junit-jupiter.version><kotlin.version>2.2.21</kotlin.version>";

    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(lockstep-[a-z-]+)</artifactId>");

    /**
     * Lets Maven resolve projects.
     *
     * @param boot the version of Spring Boot
     * @param name of the folder
     * @param projects the dependencies of each, by name
     */
    static BootProject resolve(String boot, String name, Map<String, String> projects)
            throws IOException, InterruptedException {
        Path folder = Path.of("target/" + name).toAbsolutePath();
        Map<String, String> modules = needed(String.join("", projects.values()));
        for (Map.Entry<String, String> module : modules.entrySet()) {
            write(folder.resolve(module.getKey()), module.getValue());
        }
        String parent = Files.readString(ROOT.resolve("pom.xml"));
        for (Map.Entry<String, String> project : projects.entrySet()) {
            write(folder.resolve(project.getKey()), pom(boot, version(parent), project.getKey(), project.getValue()));
        }
        String all = Stream.concat(modules.keySet().stream(), projects.keySet().stream())
                .map(module -> "<module>" + module + "</module>")
                .collect(Collectors.joining());
        write(
                folder,
                parent.replaceFirst(
                        "(?s)<modules>.*?</modules>", Matcher.quoteReplacement("<modules>" + all + "</modules>")));
        BootProject resolved = new BootProject(folder);
        String output = resolved.maven("-o"); // quicker, if everything has been downloaded before
        if (!resolved.isResolved(projects)) {
            output = resolved.maven("-B");
        }
        assertThat(resolved.isResolved(projects)).as(output).isTrue();
        return resolved;
    }

    /**
     * The poms of this project's modules that dependencies need, by folder. Maven resolves what the modules need for their tests,
     * too.
     */
    private static Map<String, String> needed(String dependencies) throws IOException {
        Map<String, Path> folders = folders();
        Map<String, String> needed = new TreeMap<>();
        Deque<String> texts = new ArrayDeque<>(List.of(dependencies, "<artifactId>lockstep-bom</artifactId>"));
        while (!texts.isEmpty()) {
            Matcher artifact = ARTIFACT.matcher(texts.pop());
            while (artifact.find()) {
                Path module = folders.get(artifact.group(1));
                if (module != null
                        && !needed.containsKey(ROOT.relativize(module).toString())) {
                    String pom = Files.readString(module.resolve("pom.xml"));
                    needed.put(ROOT.relativize(module).toString(), pom);
                    if (!artifact.group(1).equals("lockstep-bom")) {
                        texts.push(pom);
                    }
                }
            }
        }
        return needed;
    }

    /** The folders of this project's modules, by artifact. */
    private static Map<String, Path> folders() throws IOException {
        Map<String, Path> folders = new HashMap<>();
        try (Stream<Path> files = Files.find(ROOT, 4, (file, any) -> file.endsWith("pom.xml"))) {
            for (Path pom : files.filter(file -> !file.toString().contains(File.separator + "target" + File.separator))
                    .toList()) {
                Matcher own = ARTIFACT.matcher(Files.readString(pom).replaceFirst("(?s)<parent>.*?</parent>", ""));
                if (!pom.getParent().equals(ROOT) && own.find()) {
                    folders.put(own.group(1), pom.getParent());
                }
            }
        }
        return folders;
    }

    private static String version(String parent) {
        Matcher version = Pattern.compile("<version>([^<]+)</version>").matcher(parent);
        assertThat(version.find()).isTrue();
        return version.group(1);
    }

    private boolean isResolved(Map<String, String> projects) {
        return projects.keySet().stream().allMatch(project -> Files.exists(folder.resolve(project + "/classpath.txt")));
    }

    private String maven(String option) throws IOException, InterruptedException {
        return process(
                List.of(
                        "mvn",
                        "-B",
                        "-q",
                        option,
                        "-Dspotless.check.skip",
                        "-Dprotobuf.skip",
                        "-DincludeScope=runtime",
                        "-Dmdep.outputFile=classpath.txt",
                        "compile",
                        "dependency:build-classpath"),
                folder);
    }

    /** The class path that Maven gives to one of them, and the service. */
    String classPath(String project) throws IOException {
        String resolved = Files.readString(folder.resolve(project + "/classpath.txt"));
        return Arrays.stream(resolved.split(File.pathSeparator))
                        .map(entry -> entry.startsWith(folder.toString())
                                ? ROOT.resolve(folder.relativize(Path.of(entry)))
                                        .toString()
                                : entry)
                        .collect(Collectors.joining(File.pathSeparator))
                + File.pathSeparator
                + Path.of("target/test-classes").toAbsolutePath();
    }

    /** Runs a command, and returns what it prints. */
    static String process(List<String> command, Path folder) throws IOException, InterruptedException {
        File output = File.createTempFile("service", ".log");
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output)
                    .start();
            if (!process.waitFor(5, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError("No end of " + command.get(0));
            }
            return Files.readString(output.toPath(), StandardCharsets.UTF_8);
        } finally {
            Files.delete(output.toPath());
        }
    }

    private static void write(Path folder, String pom) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("pom.xml"), pom);
    }

    private static String pom(String boot, String version, String name, String dependencies) {
        return """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                  <modelVersion>4.0.0</modelVersion>
                  <parent>
                    <groupId>org.springframework.boot</groupId>
                    <artifactId>spring-boot-starter-parent</artifactId>
                    <version>%s</version>
                    <relativePath/>
                  </parent>
                  <groupId>example</groupId>
                  <artifactId>%s</artifactId>
                  <version>1</version>
                  <properties>%s</properties>
                  <dependencyManagement>
                    <dependencies>
                      <dependency>
                        <groupId>dev.lockstep</groupId>
                        <artifactId>lockstep-bom</artifactId>
                        <version>%s</version>
                        <type>pom</type>
                        <scope>import</scope>
                      </dependency>
                    </dependencies>
                  </dependencyManagement>
                  <dependencies>%s</dependencies>
                </project>
                """.formatted(boot, name, name.startsWith(ALL_OF_BOOT) ? "" : COMPILED_WITH, version, dependencies);
    }

    static String dependency(String group, String... artifacts) {
        return Arrays.stream(artifacts)
                .map(artifact -> "<dependency><groupId>" + group + "</groupId><artifactId>" + artifact
                        + "</artifactId></dependency>")
                .collect(Collectors.joining());
    }

    static String versioned(String group, String artifact, String version) {
        return dependency(group, artifact).replace("</dependency>", "<version>" + version + "</version></dependency>");
    }
}
