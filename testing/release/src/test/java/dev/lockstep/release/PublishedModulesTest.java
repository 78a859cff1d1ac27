package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which modules are published. */
class PublishedModulesTest {
    @Test
    void theBomNamesEveryPublishedLibrary() {
        List<String> libraries = new ArrayList<>(
                Project.published().stream().map(Project::artifactId).toList());
        libraries.remove("lockstep-bom");
        libraries.remove("lockstep-cli"); // a program, which nobody depends on
        assertThat(Project.pom("bom").texts("/project/dependencyManagement/dependencies/dependency/artifactId"))
                .containsExactlyInAnyOrderElementsOf(libraries);
    }

    /** The BOM has no parent that it could share these with. */
    @Test
    void theBomSaysTheSameAboutTheProjectAsTheOthers() {
        Xml parent = Xml.read(Project.root().resolve("pom.xml"));
        Xml bom = Project.pom("bom");
        for (String path : List.of(
                "/project/version",
                "/project/url",
                "/project/scm/url",
                "/project/scm/connection",
                "/project/developers/developer/name",
                "/project/licenses/license/url",
                "/project/properties/release.home",
                "/project/properties/project.build.outputTimestamp")) {
            assertThat(bom.text(path)).as(path).isNotEmpty().isEqualTo(parent.text(path));
        }
        for (String plugin : List.of("maven-gpg-plugin", "central-publishing-maven-plugin", "flatten-maven-plugin")) {
            String version = "//plugin[artifactId='" + plugin + "']/version";
            assertThat(bom.text(version)).as(plugin).isNotEmpty().isEqualTo(parent.text(version));
        }
    }
}
