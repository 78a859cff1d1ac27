package dev.lockstep.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** One operation at the server, as a Lua script from the resources beside this class. */
enum Script {
    ACQUIRE("acquire-free.lua", "common.lua", "acquire.lua"),
    LOOK("common.lua", "look.lua"),
    RELEASE("release-alone.lua", "common.lua", "release.lua"),
    KEEP("common.lua", "keep.lua"),
    DOWNGRADE("common.lua", "downgrade.lua"),
    FORCE("common.lua", "force.lua"),
    FORCE_ONE("common.lua", "force-one.lua"),
    INSPECT("inspect.lua"),
    RENEW("renew.lua"),
    PLAIN_ACQUIRE("plain-acquire.lua"),
    PLAIN_RELEASE("plain-release.lua"),
    PLAIN_RENEW("plain-renew.lua"),
    PLAIN_INSPECT("plain-inspect.lua"),
    PLAIN_FORCE("plain-force.lua"),
    REDLOCK_JOIN("common.lua", "redlock-charter.lua", "redlock-join.lua"),
    REDLOCK_ACQUIRE("common.lua", "redlock-acquire.lua"),
    REDLOCK_CONFIRM("common.lua", "redlock-charter.lua", "redlock-confirm.lua"),
    REDLOCK_YIELD("common.lua", "redlock-yield.lua"),
    REDLOCK_FORCE("common.lua", "redlock-force.lua");

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
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The jar lacks " + file + ".");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The script itself. */
    byte[] source() {
        return source;
    }

    /** The name by which a server that has seen the script knows it. */
    byte[] hash() {
        return hash;
    }
}
