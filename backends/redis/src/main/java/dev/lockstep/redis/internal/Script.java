package dev.lockstep.redis.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/** One operation on the server, as a Lua script from the resources of this module. */
public enum Script {
    ACQUIRE(
            "constants.lua",
            "clock.lua",
            "acquire-free.lua",
            "keys.lua",
            "acquire-join.lua",
            "common.lua",
            "acquire.lua"),
    LOOK("constants.lua", "clock.lua", "keys.lua", "common.lua", "look.lua"),
    RELEASE("release-alone.lua", "constants.lua", "clock.lua", "keys.lua", "common.lua", "release.lua"),
    ACQUIRE_MANY("constants.lua", "clock.lua", "keys.lua", "many.lua", "acquire-many.lua"),
    RELEASE_MANY("many.lua", "release-many.lua"),
    KEEP("constants.lua", "clock.lua", "keys.lua", "common.lua", "keep.lua"),
    DOWNGRADE("constants.lua", "clock.lua", "keys.lua", "common.lua", "downgrade.lua"),
    FORCE("constants.lua", "clock.lua", "keys.lua", "common.lua", "force.lua"),
    FORCE_ONE("constants.lua", "clock.lua", "keys.lua", "common.lua", "force-one.lua"),
    SLOTS("constants.lua", "clock.lua", "keys.lua", "common.lua", "slots.lua"),
    RECORD_WAIT("constants.lua", "clock.lua", "keys.lua", "common.lua", "record-wait.lua"),
    INSPECT("clock.lua", "many.lua", "inspect.lua"),
    RENEW("constants.lua", "clock.lua", "keys.lua", "many.lua", "renew.lua"),
    PLAIN_ACQUIRE("constants.lua", "clock.lua", "plain-acquire.lua"),
    PLAIN_RELEASE("plain-release.lua"),
    PLAIN_RENEW("constants.lua", "many.lua", "plain-renew.lua"),
    PLAIN_INSPECT("plain-inspect.lua"),
    PLAIN_FORCE("plain-force.lua"),
    REDLOCK_JOIN("clock.lua", "redlock-charter.lua", "redlock-join.lua"),
    REDLOCK_ACQUIRE("constants.lua", "clock.lua", "keys.lua", "common.lua", "redlock-acquire.lua"),
    REDLOCK_CONFIRM(
            "constants.lua", "clock.lua", "keys.lua", "common.lua", "redlock-charter.lua", "redlock-confirm.lua"),
    REDLOCK_YIELD("constants.lua", "clock.lua", "keys.lua", "common.lua", "redlock-yield.lua"),
    REDLOCK_FORCE("constants.lua", "clock.lua", "keys.lua", "common.lua", "redlock-force.lua");

    private final String kind = name().replaceFirst("^(PLAIN|REDLOCK)_", "")
            .toLowerCase(Locale.ROOT)
            .replace('_', '-');
    private final byte[] source;
    private final byte[] hash;

    Script(String... files) {
        StringBuilder text = new StringBuilder();
        for (String file : files) {
            text.append(read(file));
        }
        source = text.toString().getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(source);
            hash = HexFormat.of().formatHex(digest).getBytes(StandardCharsets.US_ASCII);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String read(String file) {
        try (InputStream in = Script.class.getResourceAsStream("/dev/lockstep/redis/" + file)) {
            if (in == null) {
                throw new IllegalStateException("The jar lacks " + file + ".");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The kind of operation, for observers. */
    String kind() {
        return kind;
    }

    /** The script itself. */
    public byte[] source() {
        return source;
    }

    /** The name by which a server that has seen the script knows it. */
    public byte[] hash() {
        return hash;
    }
}
