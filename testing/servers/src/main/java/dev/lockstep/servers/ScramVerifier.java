package dev.lockstep.servers;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The verifier that PostgreSQL stores for a password (RFC 5802), with a single iteration. A server makes 4,096 of them
 * by default, and each client has to repeat them for every connection: tests that connect thousands of times did little
 * else.
 */
final class ScramVerifier {
    private static final int ITERATIONS = 1;
    private static final int KEY_BITS = 256;

    private ScramVerifier() {}

    static String of(String password, String salt) {
        byte[] saltBytes = salt.getBytes(StandardCharsets.UTF_8);
        try {
            byte[] salted = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(new PBEKeySpec(password.toCharArray(), saltBytes, ITERATIONS, KEY_BITS))
                    .getEncoded();
            byte[] stored = MessageDigest.getInstance("SHA-256").digest(hmac(salted, "Client Key"));
            byte[] server = hmac(salted, "Server Key");
            return "SCRAM-SHA-256$" + ITERATIONS + ":" + base64(saltBytes) + "$" + base64(stored) + ":"
                    + base64(server);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK can do this", e);
        }
    }

    private static byte[] hmac(byte[] key, String message) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(message.getBytes(StandardCharsets.UTF_8));
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
