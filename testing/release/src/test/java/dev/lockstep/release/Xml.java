package dev.lockstep.release;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * An XML file, to be asked by XPath, without namespaces.
 *
 * @param document what it holds
 */
record Xml(Document document) {
    static Xml read(Path file) {
        try {
            return new Xml(
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ParserConfigurationException | SAXException e) {
            throw new IllegalStateException("Cannot read " + file, e);
        }
    }

    /** The texts of all nodes that match. */
    List<String> texts(String path) {
        try {
            NodeList nodes =
                    (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < nodes.getLength(); i++) {
                texts.add(nodes.item(i).getTextContent().strip());
            }
            return texts;
        } catch (XPathExpressionException e) {
            throw new IllegalArgumentException(path, e);
        }
    }

    /** The text of the only node that matches; empty if there is none. */
    String text(String path) {
        List<String> texts = texts(path);
        if (texts.size() > 1) {
            throw new IllegalStateException(path + " is there " + texts.size() + " times");
        }
        return texts.isEmpty() ? "" : texts.get(0);
    }
}
