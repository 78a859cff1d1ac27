package dev.lockstep.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A method that is added to the SPI with a default must be passed on, too; the default would hide the engine's own. */
class WrappersTest {
    static Stream<Arguments> wrappers() {
        return Stream.of(
                Arguments.of(BackendFactory.class, TestEngine.class),
                Arguments.of(LockBackend.class, FaultyBackend.class),
                Arguments.of(AdminBackend.class, FaultyAdmin.class),
                Arguments.of(Claim.class, FaultyClaim.class),
                Arguments.of(ClaimRequest.class, ObservedRequest.class),
                Arguments.of(Grant.class, FaultyGrant.class));
    }

    @ParameterizedTest
    @MethodSource("wrappers")
    void everyMethodIsPassedOn(Class<?> type, Class<?> wrapper) throws Exception {
        for (Method method : type.getMethods()) {
            if (!Modifier.isStatic(method.getModifiers())) {
                assertThat(wrapper.getMethod(method.getName(), method.getParameterTypes())
                                .getDeclaringClass())
                        .as(method.toString())
                        .isEqualTo(wrapper);
            }
        }
    }
}
