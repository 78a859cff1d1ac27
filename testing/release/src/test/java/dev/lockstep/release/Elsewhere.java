package dev.lockstep.release;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A project of a user, outside this one. */
final class Elsewhere {
    private Elsewhere() {}

    /** Runs Maven in a new folder, with an empty local repository, on a project that has one dependency. */
    static String maven(Rehearsal rehearsal, Path folder, String dependency, String... arguments)
            throws IOException, InterruptedException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("pom.xml"), pom(rehearsal, dependency));
        Files.writeString(folder.resolve("settings.xml"), settings());
        List<String> command = new ArrayList<>(List.of(
                "mvn", "-B", "-q", "-s", "settings.xml", "-Dmaven.repo.local=" + folder.resolveSibling("local")));
        command.addAll(List.of(arguments));
        return Rehearsal.run(folder, folder.resolve("build.log"), Map.of(), command);
    }

    /** The jars that Maven puts onto the class path of a project that has one dependency. */
    static List<Path> classPath(Rehearsal rehearsal, Path folder, String dependency)
            throws IOException, InterruptedException {
        maven(
                rehearsal,
                folder,
                dependency,
                "dependency:build-classpath",
                "-Dmdep.includeScope=runtime",
                "-Dmdep.outputFile=classpath.txt");
        return Stream.of(Files.readString(folder.resolve("classpath.txt"))
                        .strip()
                        .split(File.pathSeparator))
                .map(Path::of)
                .toList();
    }

    /** Takes the plugins, and the libraries of others, from what this build has fetched already. */
    static String settings() {
        String fetched = System.getProperty("localRepository", System.getProperty("user.home") + "/.m2/repository");
        return """
                <settings>
                  <mirrors>
                    <mirror>
                      <id>fetched</id>
                      <mirrorOf>central</mirrorOf>
                      <url>%s</url>
                    </mirror>
                  </mirrors>
                </settings>
                """.formatted(Path.of(fetched).toUri());
    }

    /** Has one dependency, whose version the BOM sets, and can run the README's example. */
    static String pom(Rehearsal rehearsal, String dependency) {
        Xml parent = Xml.read(Project.root().resolve("pom.xml"));
        StringBuilder plugins = new StringBuilder();
        for (String plugin :
                new String[] {"maven-resources-plugin", "maven-compiler-plugin", "maven-dependency-plugin"}) {
            plugins.append("<plugin><artifactId>%s</artifactId><version>%s</version></plugin>"
                    .formatted(plugin, parent.text("//pluginManagement//plugin[artifactId='" + plugin + "']/version")));
        }
        return """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>example</groupId>
                  <artifactId>example</artifactId>
                  <version>1</version>
                  <properties>
                    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
                    <maven.compiler.release>17</maven.compiler.release>
                  </properties>
                  <repositories>
                    <repository><id>staged</id><url>%s</url></repository>
                  </repositories>
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
                  <dependencies>
                    <dependency>
                      <groupId>dev.lockstep</groupId>
                      <artifactId>%s</artifactId>
                    </dependency>
                  </dependencies>
                  <build>
                    <plugins>
                      %s
                      <plugin>
                        <groupId>org.codehaus.mojo</groupId>
                        <artifactId>exec-maven-plugin</artifactId>
                        <version>%s</version>
                        <configuration>
                          <executable>java</executable>
                          <arguments>
                            <argument>-classpath</argument>
                            <classpath/>
                            <argument>dev.lockstep.examples.GettingStarted</argument>
                          </arguments>
                        </configuration>
                      </plugin>
                    </plugins>
                  </build>
                </project>
                """.formatted(
                        rehearsal.repository().toUri(),
                        rehearsal.version(),
                        dependency,
                        plugins,
                        parent.text("//pluginManagement//plugin[artifactId='exec-maven-plugin']/version"));
    }
}
