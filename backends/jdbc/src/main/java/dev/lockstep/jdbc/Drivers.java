package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Finds JDBC drivers. */
final class Drivers {
    private Drivers() {}

    /**
     * The driver that takes a URL. {@link DriverManager} looks for drivers once in a JVM, with the class loader of the thread
     * that comes first; a driver in the class loader of a web application may have come later, and is looked for there.
     *
     * @throws LockConfigurationException if there is none
     */
    static Driver of(String url, Dialect dialect) {
        Driver driver = find(url);
        if (driver != null) {
            return driver;
        }
        boolean known = find("jdbc:" + dialect.scheme() + "://localhost/x") != null;
        throw new LockConfigurationException(
                null,
                known
                        ? "The driver of jdbc:" + dialect.scheme()
                                + ": does not understand the URL. Check its host, port (1 to 65535) and parameters."
                        : "No JDBC driver on the class path accepts the jdbc:" + dialect.scheme() + ": URL. Add "
                                + dialect.driver() + ", or check the URL.");
    }

    private static @Nullable Driver find(String url) {
        try {
            return DriverManager.getDriver(url);
        } catch (SQLException e) {
            Driver driver = find(url, Thread.currentThread().getContextClassLoader());
            return driver != null ? driver : find(url, Drivers.class.getClassLoader());
        }
    }

    private static @Nullable Driver find(String url, @Nullable ClassLoader loader) {
        Iterator<Driver> drivers = ServiceLoader.load(Driver.class, loader).iterator();
        while (true) {
            try {
                if (!drivers.hasNext()) {
                    return null;
                }
                Driver driver = drivers.next();
                if (driver.acceptsURL(url)) {
                    return driver;
                }
            } catch (SQLException | ServiceConfigurationError e) {
                // One that is broken, or for another database.
            }
        }
    }
}
