package dev.lockstep.internal.client;

import java.util.Objects;

/** The rules of names: any Unicode, not empty, no control characters, of limited length in UTF-8. */
final class Names {
    static final int MAX_BYTES = 512;

    private Names() {}

    static String requireLockName(String name) {
        return require(name, "lock name", MAX_BYTES);
    }

    /** Checks in one pass; the offending name is not repeated whole, since it may be long or unprintable. */
    static String require(String name, String what, int maxBytes) {
        Objects.requireNonNull(name, what);
        int length = name.length();
        if (length == 0) {
            throw new IllegalArgumentException("The " + what + " is empty.");
        }
        int bytes = 0;
        for (int i = 0; i < length; i++) {
            char c = name.charAt(i);
            if (c < 0x80) {
                bytes++;
            } else if (c < 0x800) {
                bytes += 2;
            } else if (!Character.isSurrogate(c)) {
                bytes += 3;
            } else if (Character.isHighSurrogate(c) && i + 1 < length && Character.isLowSurrogate(name.charAt(i + 1))) {
                bytes += 4;
                i++;
            } else {
                throw new IllegalArgumentException("The " + what + " has an unpaired surrogate at index " + i + ".");
            }
            if (Character.isISOControl(c)) {
                throw new IllegalArgumentException("The " + what + " has a control character at index " + i + ".");
            }
        }
        if (bytes > maxBytes) {
            throw new IllegalArgumentException(
                    "The " + what + " has " + bytes + " bytes in UTF-8; at most " + maxBytes + " are allowed.");
        }
        return name;
    }
}
