package dev.lockstep.tck;

import dev.lockstep.LockClient;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** The base of the parts of the contract that are about elections: candidates, which are closed after each test. */
abstract class ElectionGroup extends ContractGroup {
    private final List<Candidate> candidates = new ArrayList<>();

    ElectionGroup(LockContract contract) {
        super(contract);
    }

    final Candidate candidate(LockClient client, String payload) {
        Candidate made = new Candidate(client, payload);
        candidates.add(made);
        return made;
    }

    /** A candidate whose task does not return when it is interrupted. */
    final Candidate stubborn(LockClient client) {
        Candidate made = new Candidate(client, "stubborn", true);
        candidates.add(made);
        return made;
    }

    final Candidate first() {
        return candidate(client(), "first");
    }

    final Candidate second() {
        return candidate(rival(), "second");
    }

    @AfterEach
    final void closeCandidates() {
        candidates.forEach(Candidate::close);
    }
}
