package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.lockstep.benchmarks.Fleet.Outcome;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Simulated clients behave as real ones did, and a server that has too little time loses their holds. */
class FleetTest {
    private static final double MICROS = 100;

    /** Requests per second of 30 real clients, which {@link FleetOnServersTest} measured on 2026-11-19. */
    @ParameterizedTest
    @CsvSource({"REDIS, 9.0, 9.8, 8.9", "ZOOKEEPER, 12.05, 14.13, 12.1", "ETCD, 9.0, 13.27, 9.0"})
    void thirtyClientsMakeTheRequestsThatWereMeasured(Renewals renewals, double normal, double outage, double later) {
        Outcome simulated = fleet(renewals, 30, MICROS).run();

        assertThat(simulated.perSecond()).isCloseTo(normal, withinPercentage(5));
        assertThat(simulated.outagePerSecond()).isCloseTo(outage, withinPercentage(15));
        assertThat(simulated.laterPerSecond()).isCloseTo(later, withinPercentage(5));
        assertThat(simulated.lost()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Renewals.class)
    void sameSeedGivesTheSameResult(Renewals renewals) {
        assertThat(fleet(renewals, 300, MICROS).run())
                .isEqualTo(fleet(renewals, 300, MICROS).run())
                .isNotEqualTo(new Fleet(renewals, 300, MICROS, renewals.periodMillis, 2).run());
    }

    @ParameterizedTest
    @EnumSource(Renewals.class)
    void busiestSecondIsThatInWhichAllStarted(Renewals renewals) {
        int clients = 1_000;

        int together = new Fleet(renewals, clients, MICROS, 1_000, 1).busiestSecond();

        int each = renewals.requests + renewals.beside + (renewals.pingMillis == 0 ? 0 : 1);
        assertThat(together).isEqualTo(clients * each);
        assertThat(fleet(renewals, clients, MICROS).run().busiest()).isLessThan(together / 2);
    }

    @ParameterizedTest
    @EnumSource(Renewals.class)
    void serverWithoutTimeLosesHolds(Renewals renewals) {
        int clients = 100;
        double micros = 3e6 * renewals.periodMillis / 1_000 / clients; // three times what there is

        assertThat(fleet(renewals, clients, micros).run().lost()).isGreaterThan(clients / 2);
    }

    @ParameterizedTest
    @EnumSource(Renewals.class)
    void processorTimeIsThatOfTheRequests(Renewals renewals) {
        Outcome outcome = fleet(renewals, 1_000, MICROS).run();

        assertThat(outcome.core()).isCloseTo(outcome.perSecond() * MICROS / 1e6, within(0.001));
        assertThat(outcome.delayMillis()).isBetween(renewals.requests * MICROS / 1e3, 10.0);
    }

    private static Fleet fleet(Renewals renewals, int clients, double micros) {
        return new Fleet(renewals, clients, micros, renewals.periodMillis, 1);
    }
}
