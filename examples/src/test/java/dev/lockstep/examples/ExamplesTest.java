package dev.lockstep.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples do what they say. */
class ExamplesTest {
    private final String url = "memory:examples-" + UUID.randomUUID();

    /** A program's {@code main}. */
    private interface Program {
        void run(String... args) throws Exception;
    }

    @Test
    void gettingStartedShipsUnderTheLock() throws Exception {
        assertThat(outputOf(GettingStarted::main).toList())
                .hasSize(2)
                .satisfies(lines -> assertThat(lines.get(0)).isEqualTo("shipped order 42"))
                .satisfies(lines -> assertThat(lines.get(1)).matches("shipped order 42 with token \\d+"));
    }

    @Nested
    class FlashSales {
        @ParameterizedTest
        @ValueSource(strings = {"memory:", "toy:"})
        void lockedSaleSellsExactlyTheStock(String engine) throws InterruptedException {
            assertThat(FlashSale.sell(engine + UUID.randomUUID(), true)).isEqualTo(new FlashSale.Result(100, 500));
        }

        @Test
        void unlockedSaleOversells() throws InterruptedException {
            assertThat(FlashSale.sell(url, false).oversold()).isPositive();
        }

        @Test
        void programReportsBoth() throws Exception {
            assertThat(outputOf(args -> FlashSale.main(new String[] {url})).toList())
                    .hasSize(2)
                    .last()
                    .asString()
                    .contains("sold 100, turned away 500, oversold 0");
        }
    }

    @Nested
    class OrderNumberings {
        @ParameterizedTest
        @ValueSource(strings = {"memory:", "toy:"})
        void lockedNumbersAreInOrderWithoutGaps(String engine) throws InterruptedException {
            assertThat(OrderNumbers.draw(engine + UUID.randomUUID(), true))
                    .isEqualTo(IntStream.rangeClosed(1, 600).boxed().toList());
        }

        @Test
        void unlockedNumbersHaveDuplicates() throws InterruptedException {
            List<Integer> numbers = OrderNumbers.draw(url, false);
            assertThat(numbers.stream().distinct().count()).isLessThan(numbers.size());
        }

        @Test
        void programReportsBoth() throws Exception {
            assertThat(outputOf(args -> OrderNumbers.main(new String[] {url})).toList())
                    .hasSize(2)
                    .last()
                    .asString()
                    .contains("drew 600 numbers, 0 of them twice or more often; in order: yes");
        }
    }

    @Test
    void rowRefusesStaleToken() {
        Row row = new Row(0);
        row.write(1, 10);
        row.write(2, 10);
        assertThatThrownBy(() -> row.write(3, 9)).hasMessageContaining("token 9 after token 10");
        assertThat(row.read()).isEqualTo(2);
    }

    @Test
    void earlierHolderCannotComeBetweenReadAndWrite() {
        Row row = new Row(5);
        assertThat(row.read(11)).isEqualTo(5);
        assertThatThrownBy(() -> row.write(99, 10)).hasMessageContaining("token 10 after token 11");
        assertThatThrownBy(() -> row.read(10)).hasMessageContaining("token 10 after token 11");
        row.write(4, 11);
        assertThat(row.read()).isEqualTo(4);
    }

    private static Stream<String> outputOf(Program program) throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            program.run();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8).lines();
    }
}
