package dev.lockstep.console;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Collection;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/*
 * Overview. The conditions that a request must meet, each against one attack:
 *   - Host names this console: a page of another site, whose name was made to point at 127.0.0.1 (DNS rebinding), has its own name.
 *   - Origin, if the browser sends one, names this console, and Sec-Fetch-Site is not that of another site: no page of another site
 *     reads or writes.
 *   - the token, if there is one.
 *   - X-Lockstep-Console on all that is not GET: a form of another site cannot send it.
 */
/** Decides which requests are answered. Immutable. */
final class Guard {
    static final String CSRF_HEADER = "X-Lockstep-Console";

    private static final Pattern IPV6 = Pattern.compile("\\[[0-9a-f:.]*:[0-9a-f:.]*]");

    private final Set<String> hosts = new HashSet<>();
    private final byte @Nullable [] token;

    Guard(InetSocketAddress address, @Nullable String token, Collection<String> more) {
        this.token = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
        hosts.add("localhost");
        hosts.add("127.0.0.1");
        hosts.add(canonical("[::1]"));
        hosts.add(literal(address));
        hosts.add(address.getHostString().toLowerCase(Locale.ROOT));
        more.forEach(host -> hosts.add(canonical(host.toLowerCase(Locale.ROOT))));
    }

    /** The host as it is written in a URL. */
    static String literal(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        int zone = host.indexOf('%');
        String plain = zone < 0 ? host : host.substring(0, zone);
        return plain.indexOf(':') >= 0 ? "[" + plain + "]" : plain;
    }

    /** Why a request is refused; null if it is not. */
    Console.@Nullable Page refusal(String method, Function<String, @Nullable String> header) {
        String host = header.apply("Host");
        if (host == null || !hosts.contains(name(host))) {
            return Console.Page.error(421, "this console does not have that name: see --host-name");
        }
        String origin = header.apply("Origin");
        if (origin != null && !isOwn(origin, host)) {
            return Console.Page.error(403, "requests of other sites are refused");
        }
        String site = header.apply("Sec-Fetch-Site");
        boolean foreign = site != null && (site.equals("cross-site") || site.equals("same-site"));
        if (foreign && !"navigate".equals(header.apply("Sec-Fetch-Mode"))) {
            return Console.Page.error(403, "requests of other sites are refused");
        }
        if (token != null && !hasToken(token, header.apply("Authorization"))) {
            return Console.Page.error(401, "the console's token is needed");
        }
        boolean reads = method.equals("GET") || method.equals("HEAD");
        if (!reads && !"1".equals(header.apply(CSRF_HEADER))) {
            return Console.Page.error(403, "the header " + CSRF_HEADER + " is missing");
        }
        return null;
    }

    private static String name(String host) {
        int colon = host.lastIndexOf(':');
        boolean hasPort = colon > host.lastIndexOf(']');
        return canonical((hasPort ? host.substring(0, colon) : host).toLowerCase(Locale.ROOT));
    }

    /** An IPv6 address has several forms: a browser shortens it, and Java writes it in full. Names stay as they are. */
    private static String canonical(String host) {
        if (!IPV6.matcher(host).matches()) {
            return host;
        }
        try {
            return "[" + InetAddress.getByName(host).getHostAddress() + "]"; // a literal, so nobody is asked for a name
        } catch (UnknownHostException e) {
            return host;
        }
    }

    /** Behind a proxy with TLS the scheme differs, so the host alone is compared. */
    private static boolean isOwn(String origin, String host) {
        try {
            return host.equalsIgnoreCase(URI.create(origin).getRawAuthority());
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static boolean hasToken(byte[] token, @Nullable String authorization) {
        if (authorization != null && authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
            return same(token, authorization.substring(7).strip());
        }
        String pair = basic(authorization);
        return pair != null && same(token, pair.substring(pair.indexOf(':') + 1));
    }

    /** The user name that came with the token, which nobody has checked; empty if there is none. */
    static String user(@Nullable String authorization) {
        String pair = basic(authorization);
        return pair == null ? "" : pair.substring(0, Math.max(0, pair.indexOf(':')));
    }

    /** The user name and the password of HTTP Basic authentication, with a colon between them; null if there are none. */
    private static @Nullable String basic(@Nullable String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, "Basic ", 0, 6)) {
            return null;
        }
        try {
            return new String(
                    Base64.getDecoder().decode(authorization.substring(6).strip()), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Takes as long whatever is wrong. */
    private static boolean same(byte[] token, String given) {
        return MessageDigest.isEqual(token, given.getBytes(StandardCharsets.UTF_8));
    }
}
