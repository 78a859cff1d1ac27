package dev.lockstep.jdbc;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Counts the statements of a client, and simulates a failing network, where the database has none. Statements that were
 * carried out and whose answers are lost fail as if the connection had been cut. A silent database is like a server
 * that swallows everything: each request fails after the timeout, as with a driver that has one.
 */
final class HurtSource implements DataSource {
    enum Fault {
        NONE,
        CUT,
        DEAF,
        SILENT,
        /** Connections are cut, and no thread can be started, which some drivers need to connect. */
        NO_THREAD
    }

    private final DataSource source;
    private final AtomicLong count;
    private final long timeoutNanos;
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<String>> afterwards = new CopyOnWriteArrayList<>();
    private final AtomicLong refused = new AtomicLong();
    private volatile Fault fault = Fault.NONE;
    private volatile long delayNanos;
    private volatile LongConsumer numbers = number -> {};

    HurtSource(DataSource source, AtomicLong count, Duration timeout) {
        this.timeoutNanos = timeout.toNanos();
        this.source = source;
        this.count = count;
    }

    void hurt(Fault now) {
        fault = now;
    }

    /** How many connections there was no thread for. */
    long refused() {
        return refused.get();
    }

    void delay(Duration now) {
        delayNanos = now.toNanos();
    }

    /** Calls a listener with each statement before it is carried out, which it may delay. */
    void before(Consumer<String> listener) {
        listeners.add(listener);
    }

    /** Calls a listener with each statement after it was carried out, before its result is looked at. */
    void after(Consumer<String> listener) {
        afterwards.add(listener);
    }

    /** Calls a listener with each number that is bound to a statement. */
    void numbers(LongConsumer listener) {
        numbers = listener;
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (fault == Fault.CUT) {
            throw away();
        }
        if (fault == Fault.NO_THREAD) {
            refused.incrementAndGet();
            throw new InternalError("no thread, as the test wants it");
        }
        requireAnswers();
        return wrap(source.getConnection());
    }

    private Connection wrap(Connection connection) {
        return proxy(Connection.class, (proxy, method, arguments) -> {
            Object result;
            if (method.getName().equals("commit")) {
                return send("COMMIT", connection, method, arguments);
            }
            result = invoke(connection, method, arguments);
            if (result instanceof PreparedStatement statement) {
                return wrap(PreparedStatement.class, statement, String.valueOf(arguments[0]));
            }
            return result instanceof Statement statement ? wrap(Statement.class, statement, "") : result;
        });
    }

    private <T extends Statement> T wrap(Class<T> type, T statement, String sql) {
        return proxy(type, (proxy, method, arguments) -> {
            if (method.getName().equals("setLong")) {
                numbers.accept((Long) arguments[1]);
            }
            if (!method.getName().startsWith("execute")) {
                return invoke(statement, method, arguments);
            }
            String text = arguments != null && arguments.length > 0 ? String.valueOf(arguments[0]) : sql;
            count.incrementAndGet();
            return send(text, statement, method, arguments);
        });
    }

    private Object send(String sql, Object target, Method method, Object[] arguments) throws Throwable {
        if (fault == Fault.CUT || fault == Fault.NO_THREAD) {
            throw away();
        }
        requireAnswers();
        listeners.forEach(listener -> listener.accept(sql));
        Object result = invoke(target, method, arguments);
        afterwards.forEach(listener -> listener.accept(sql));
        if (delayNanos > 0) {
            long start = System.nanoTime();
            while (System.nanoTime() - start < Math.min(delayNanos, timeoutNanos)) {
                LockSupport.parkNanos(10_000_000);
            }
            if (System.nanoTime() - start < delayNanos) {
                throw away(); // as a driver with a timeout would
            }
        }
        if (fault != Fault.NONE) {
            throw away();
        }
        return result;
    }

    private void requireAnswers() throws SQLException {
        long start = System.nanoTime();
        boolean silent = false;
        while (fault == Fault.SILENT && System.nanoTime() - start < timeoutNanos) {
            silent = true;
            LockSupport.parkNanos(10_000_000);
        }
        if (silent) {
            throw away();
        }
    }

    private static SQLException away() {
        return new SQLException("the connection was cut by the test", "08006");
    }

    static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(HurtSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("not a wrapper");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
