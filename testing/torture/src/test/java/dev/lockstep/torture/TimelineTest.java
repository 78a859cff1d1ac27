package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class TimelineTest {
    private final History history = new History();

    private void section(int client, int lock, long entered, long certain, long exited, long token) {
        int section = history.ask(client, lock, false, false, entered - 5);
        history.entered(section, entered, token);
        history.certain(section, certain);
        history.exited(section, exited);
    }

    private static int count(Document svg, String element, String kind) {
        NodeList found = svg.getElementsByTagName(element);
        int count = 0;
        for (int i = 0; i < found.getLength(); i++) {
            count += found.item(i).getAttributes().getNamedItem("class") != null
                            && found.item(i)
                                    .getAttributes()
                                    .getNamedItem("class")
                                    .getNodeValue()
                                    .equals(kind)
                    ? 1
                    : 0;
        }
        return count;
    }

    @Test
    void showsTheSectionsInsideAndTheFaults() throws Exception {
        section(1, 3, 100, 150, 160, 7);
        section(2, 3, 140, 180, 180, 8);
        section(1, 4, 100, 150, 160, 7); // another lock
        section(1, 3, 900, 950, 960, 9); // another time
        history.add(new FaultWindow("link <cut>", "worker 1", 1, FaultWindow.ALL, Set.of(), 110, 130, true));

        String svg = new Timeline(history, new Incident(3, 150, "two inside"), 100).svg();

        Document parsed =
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
        assertThat(count(parsed, "rect", "writer")).isEqualTo(2);
        assertThat(count(parsed, "rect", "fault")).isEqualTo(1);
        assertThat(parsed.getDocumentElement().getTextContent())
                .contains("client 1", "client 2", "link <cut>", "t1", "t2");
    }
}
