package dev.lockstep.redis.internal;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * A script with its keys and arguments.
 *
 * @param script the script
 * @param slot the slot of all its keys; -1 if there are no slots
 * @param keys its keys
 * @param args its other arguments
 */
public record ScriptRun(Script script, int slot, byte[][] keys, byte[][] args) {
    /** Runs it, and returns its answer. */
    Object on(Connection connection) {
        try {
            return connection.executeCommand(command(false));
        } catch (JedisNoScriptException e) {
            return connection.executeCommand(command(true));
        }
    }

    /** Sends it by its name alone, which the server may not know; its answer is still to be read. */
    void send(Connection connection) {
        connection.sendCommand(command(false));
    }

    private CommandArguments command(boolean whole) {
        CommandArguments command = new CommandArguments(whole ? Protocol.Command.EVAL : Protocol.Command.EVALSHA);
        command.add(whole ? script.source() : script.hash()).add(keys.length);
        for (byte[] key : keys) {
            command.add(key);
        }
        for (byte[] arg : args) {
            command.add(arg);
        }
        return command;
    }
}
