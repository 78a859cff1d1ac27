package dev.lockstep.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Says which Lockstep this is, and which Java it runs on. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream in =
                Objects.requireNonNull(Version.class.getResourceAsStream("version.properties"), "version.properties")) {
            properties.load(in);
        }
        return new String[] {"lockstep " + properties.getProperty("version") + " (Java " + Runtime.version() + ")"};
    }
}
