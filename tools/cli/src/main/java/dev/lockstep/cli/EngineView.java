package dev.lockstep.cli;

import java.util.List;

/** Shows what a server has of a namespace, past the engine, as an operator would look. For one thread. */
interface EngineView extends AutoCloseable {
    /** What is there now, a line each, with {@link Labels} in place of what differs from run to run. */
    List<String> look() throws Exception;

    @Override
    default void close() throws Exception {}
}
