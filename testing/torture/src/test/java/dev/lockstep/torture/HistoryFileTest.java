package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryFileTest {
    @TempDir
    private Path folder;

    private Path written(History history) throws IOException {
        Path file = folder.resolve("some.history");
        HistoryFile.write(file, new HistoryFile("some", 10, history));
        return file;
    }

    @Test
    void aHistoryIsReadAsWritten() throws IOException {
        History history = new History();
        int first = history.ask(3, 2, true, false, 11);
        history.entered(first, 12, 99);
        history.certain(first, 13);
        history.ended(first, 14);
        history.exited(first, 14);
        int second = history.ask(4, 1, false, true, 15);
        history.queued(second, 16);
        history.exited(second, 17);
        history.entered(history.askPermits(5, 6, 2, 3, 18), 19, 0);
        Set<Rule> excuses = Set.of(Rule.EXCLUSION, Rule.ORDER);
        history.add(new FaultWindow("link cut", "worker 3", 3, FaultWindow.ALL, excuses, 1, 2, true));
        history.add(new FaultWindow("server paused", "some@1", FaultWindow.ALL, 2, Set.of(), 3, 4, false));
        Path file = written(history);
        HistoryFile read = HistoryFile.read(file);
        assertThat(read.engine()).isEqualTo("some");
        assertThat(read.settleNanos()).isEqualTo(10);
        assertThat(read.history().faults())
                .hasSize(2)
                .element(1)
                .isEqualTo(history.faults().get(1));
        assertThat(read.history().faults().get(0).excuses()).isEqualTo(excuses);
        assertThat(read.history().permits(2)).isEqualTo(2);
        assertThat(read.history().limit(2)).isEqualTo(3);
        Path again = folder.resolve("again.history");
        HistoryFile.write(again, read);
        assertThat(again).hasSameTextualContentAs(file);
    }

    @Test
    void theCheckerFindsTheSameInTheFile() throws IOException {
        History history = new History();
        for (int i = 0; i < 2; i++) {
            int section = history.ask(i, 0, false, false, 1);
            history.entered(section, 2 + i, 7 + i);
            history.certain(section, 9);
            history.exited(section, 9);
        }
        Recheck found = Recheck.of(written(history));
        assertThat(found.holds()).isFalse();
        assertThat(found.verdict().broken(Rule.EXCLUSION)).isEqualTo(1);
        assertThat(found.lines()).contains("some: 2 calls, 2 got the lock, 0 faults");
    }

    @Test
    void aFileThatIsNoHistoryIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("notes.txt"), "history 4\n");
        assertThatThrownBy(() -> Recheck.of(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("notes.txt");
        Files.writeString(file, "history 4 some 10\nsection 1 2\n");
        assertThatThrownBy(() -> Recheck.of(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("damaged");
    }
}
