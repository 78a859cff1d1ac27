package dev.lockstep.cli;

import java.util.List;

/**
 * Shows the data of a namespace on a server, read directly and not through the library, as an operator would. For one
 * thread.
 */
interface EngineView extends AutoCloseable {
    /**
     * The data that is there now, one line each, with {@link Labels} in place of values that differ from run to run.
     */
    List<String> look() throws Exception;

    @Override
    default void close() throws Exception {}
}
