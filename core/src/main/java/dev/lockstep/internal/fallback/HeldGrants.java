package dev.lockstep.internal.fallback;

import dev.lockstep.LockMode;
import dev.lockstep.internal.fallback.FallbackRouter.Side;
import dev.lockstep.spi.ClaimRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The grants that a client holds on two engines, by name. Guarded by the mutex of its {@link FallbackRouter}. */
final class HeldGrants {
    private final Map<String, List<FallbackGrant>> byName = new HashMap<>();
    private int ofFallback;

    void add(FallbackGrant grant) {
        byName.computeIfAbsent(grant.name(), name -> new ArrayList<>(1)).add(grant);
        ofFallback += grant.isFallback() ? 1 : 0;
    }

    /** False if it was not held. */
    boolean remove(FallbackGrant grant) {
        List<FallbackGrant> ofName = byName.get(grant.name());
        if (ofName == null || !ofName.remove(grant)) {
            return false;
        }
        if (ofName.isEmpty()) {
            byName.remove(grant.name());
        }
        ofFallback -= grant.isFallback() ? 1 : 0;
        return true;
    }

    /** Whether a grant of a side excludes what is asked. */
    boolean standsAgainst(ClaimRequest request, Side side) {
        for (FallbackGrant grant : byName.getOrDefault(request.name(), List.of())) {
            if (grant.side() == side && (grant.mode() == LockMode.EXCLUSIVE || request.mode() == LockMode.EXCLUSIVE)) {
                return true;
            }
        }
        return false;
    }

    boolean anyOfFallback() {
        return ofFallback > 0;
    }

    List<FallbackGrant> ofFallback() {
        List<FallbackGrant> found = new ArrayList<>(ofFallback);
        for (List<FallbackGrant> ofName : byName.values()) {
            for (FallbackGrant grant : ofName) {
                if (grant.isFallback()) {
                    found.add(grant);
                }
            }
        }
        return found;
    }
}
