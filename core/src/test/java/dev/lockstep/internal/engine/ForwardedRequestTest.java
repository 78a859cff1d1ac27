package dev.lockstep.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.spi.ClaimRequest;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ForwardedRequestTest {
    /** A method with a default would otherwise answer for the request that was asked. */
    @Test
    void everyMethodOfARequestIsForwarded() {
        assertThat(Arrays.stream(ClaimRequest.class.getDeclaredMethods()).map(Method::getName))
                .isNotEmpty()
                .isSubsetOf(Arrays.stream(ForwardedRequest.class.getDeclaredMethods())
                        .map(Method::getName)
                        .toList());
    }
}
