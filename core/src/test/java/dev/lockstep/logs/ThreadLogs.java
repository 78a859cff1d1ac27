package dev.lockstep.logs;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * The logging of these tests: warnings and errors go to the console; but a thread that asks for it hears errors itself and
 * nothing is printed for it. The core logs an error only where it has one: a test must not miss it.
 */
public final class ThreadLogs implements SLF4JServiceProvider {
    private static final ThreadLocal<@Nullable Consumer<String>> LISTENER = new ThreadLocal<>();

    private static final ThreadLocal<@Nullable Consumer<String>> WARNINGS = new ThreadLocal<>();

    private static final ThreadLocal<@Nullable Consumer<String>> INFOS = new ThreadLocal<>();

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter contexts = new BasicMDCAdapter();
    private final ILoggerFactory loggers = ThreadLogger::new;

    /**
     * Sends the errors of the calling thread to a listener.
     *
     * @param listener null to print them again
     */
    public static void onError(@Nullable Consumer<String> listener) {
        LISTENER.set(listener);
    }

    /**
     * Sends the warnings of the calling thread to a listener, with the first lines of their stack trace if they have one.
     *
     * @param listener null to print them again
     */
    public static void onWarning(@Nullable Consumer<String> listener) {
        WARNINGS.set(listener);
    }

    /**
     * Sends what the calling thread logs for information to a listener.
     *
     * @param listener null to drop it again
     */
    public static void onInfo(@Nullable Consumer<String> listener) {
        INFOS.set(listener);
    }

    private static final class ThreadLogger extends AbstractLogger {
        private static final long serialVersionUID = 1L;

        ThreadLogger(String name) {
            this.name = name;
        }

        private static boolean logs(Level level) {
            return level == Level.ERROR || level == Level.WARN && LISTENER.get() == null;
        }

        @Override
        protected void handleNormalizedLoggingCall(
                Level level, Marker marker, String pattern, Object[] arguments, Throwable thrown) {
            String message = MessageFormatter.basicArrayFormat(pattern, arguments);
            Consumer<String> listener = switch (level) {
                case WARN -> WARNINGS.get();
                case INFO -> INFOS.get();
                default -> LISTENER.get();
            };
            if (listener != null) {
                StackTraceElement[] trace = thrown == null ? new StackTraceElement[0] : thrown.getStackTrace();
                StringBuilder text = new StringBuilder("logged: ")
                        .append(message)
                        .append(": ")
                        .append(thrown);
                for (int i = 0; i < Math.min(trace.length, 8); i++) {
                    text.append("\n    at ").append(trace[i]);
                }
                listener.accept(text.toString());
                return;
            }
            System.err.println(level + " " + name + " - " + message);
            if (thrown != null) {
                thrown.printStackTrace();
            }
        }

        @Override
        protected String getFullyQualifiedCallerName() {
            return ThreadLogger.class.getName();
        }

        @Override
        public boolean isTraceEnabled() {
            return false;
        }

        @Override
        public boolean isTraceEnabled(Marker marker) {
            return false;
        }

        @Override
        public boolean isDebugEnabled() {
            return false;
        }

        @Override
        public boolean isDebugEnabled(Marker marker) {
            return false;
        }

        @Override
        public boolean isInfoEnabled() {
            return INFOS.get() != null;
        }

        @Override
        public boolean isInfoEnabled(Marker marker) {
            return INFOS.get() != null;
        }

        @Override
        public boolean isWarnEnabled() {
            return logs(Level.WARN);
        }

        @Override
        public boolean isWarnEnabled(Marker marker) {
            return logs(Level.WARN);
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }

        @Override
        public boolean isErrorEnabled(Marker marker) {
            return true;
        }
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return loggers;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return contexts;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public void initialize() {
        // Nothing to prepare.
    }
}
