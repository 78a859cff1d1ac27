package dev.lockstep.spring.boot;

import dev.lockstep.console.Console;
import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.lang.Nullable;
import org.springframework.util.MimeTypeUtils;

/**
 * The actuator endpoint {@code lockconsole}: the console, under the security rules of the actuator. Safe for use by many threads.
 */
@WebEndpoint(id = "lockconsole")
public class LockConsoleEndpoint {
    private final Console console;

    LockConsoleEndpoint(Console console) {
        this.console = console;
    }

    /**
     * Shows the page.
     *
     * @return the page, which finds its files below {@code lockconsole/}
     */
    @ReadOperation(produces = "*/*")
    public WebEndpointResponse<Resource> page() {
        return answer(console.index("lockconsole/"));
    }

    /**
     * Shows a file of the page, or data.
     *
     * @param path the path below the page
     * @param prefix what names begin with; all if it is missing
     * @param namespace the namespace; all if it is missing
     * @param name the name of a lock, where one lock is shown
     * @param sort how locks are sorted
     * @param limit how many locks are shown
     * @param at a moment of the history
     * @return the file or data
     */
    @ReadOperation(produces = "*/*")
    public WebEndpointResponse<Resource> read(
            @Selector(match = Selector.Match.ALL_REMAINING) String[] path,
            @Nullable String prefix,
            @Nullable String namespace,
            @Nullable String name,
            @Nullable String sort,
            @Nullable String limit,
            @Nullable String at) {
        Map<String, String> parameters = new HashMap<>();
        put(parameters, "prefix", prefix);
        put(parameters, "namespace", namespace);
        put(parameters, "name", name);
        put(parameters, "sort", sort);
        put(parameters, "limit", limit);
        put(parameters, "at", at);
        return answer(console.read(String.join("/", path), parameters));
    }

    private static void put(Map<String, String> parameters, String key, @Nullable String value) {
        if (value != null) {
            parameters.put(key, value);
        }
    }

    private static WebEndpointResponse<Resource> answer(Console.Page page) {
        return new WebEndpointResponse<>(
                new ByteArrayResource(page.body()), page.status(), MimeTypeUtils.parseMimeType(page.type()));
    }

    /** The same, with releases by force: {@code lockstep.console.allow-release=true}. */
    @WebEndpoint(id = "lockconsole")
    public static class WithRelease extends LockConsoleEndpoint {
        private final Console console;

        WithRelease(Console console) {
            super(console);
            this.console = console;
        }

        /**
         * Releases the lock of one holder by force. The request is JSON, which no form of another site can send.
         *
         * @param security names the user for the log
         * @param path {@code api/release}; for others there is no answer
         * @param namespace the lock's namespace
         * @param name the lock's name
         * @param confirmation the lock's name, as the operator typed it
         * @param token identifies the grant
         * @param reason why, for the log
         * @return whether it was released
         */
        @WriteOperation(produces = "*/*")
        public WebEndpointResponse<Resource> release(
                SecurityContext security,
                @Selector(match = Selector.Match.ALL_REMAINING) String[] path,
                String namespace,
                String name,
                String confirmation,
                long token,
                String reason) {
            if (!String.join("/", path).equals("api/release")) {
                return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
            }
            Principal user = security.getPrincipal();
            return answer(console.release(
                    new Console.Release(namespace, name, confirmation, token, reason),
                    "actuator endpoint, " + (user == null ? "unknown user" : "user " + user.getName())));
        }
    }
}
