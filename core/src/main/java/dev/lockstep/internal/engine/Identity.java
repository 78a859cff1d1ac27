package dev.lockstep.internal.engine;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Base64;

/** Identifies this process, for people to read, and makes unique ids. */
public record Identity(String host, long pid) {
    private static final class OfProcess {
        static final Identity VALUE =
                new Identity(hostName(), ProcessHandle.current().pid());
    }

    public static Identity ofProcess() {
        return OfProcess.VALUE;
    }

    /** 128 random bits, in 22 characters. */
    public static String newClientId() {
        byte[] bits = new byte[16];
        new SecureRandom().nextBytes(bits);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bits);
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown-host";
        }
    }
}
