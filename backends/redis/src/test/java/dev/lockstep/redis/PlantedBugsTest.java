package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.mutants.PlantedBug;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The tests of this engine are worth something: each of these mistakes makes them fail. */
@Tag("full")
class PlantedBugsTest {
    @ParameterizedTest
    @MethodSource("bugs")
    void isFound(PlantedBug bug) {
        assertThat(bug.findings()).isNotEmpty();
    }

    @Test
    void withoutOneNothingIsFound() {
        assertThat(PlantedBug.findingsWithout(bugs())).isEmpty();
    }

    static List<PlantedBug> bugs() {
        return List.of(new PlantedBug(
                "release without a look at the owner",
                "redis.call('HGET', KEYS[1], 'owner') == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 0",
                "redis.call('EXISTS', KEYS[2]) == 0",
                "dev.lockstep.redis.ContractRedisTest: aLateReleaseDoesNotFreeTheNextHolder"));
    }
}
