package dev.lockstep.internal.semaphore;

import dev.lockstep.Permit;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * Notices that the handle of held permits has become unreachable. The hold keeps it: when the permits are released,
 * hold and reference go together.
 */
final class PermitReference extends PhantomReference<Permit> {
    private final PermitHold hold;

    PermitReference(Permit handle, PermitHold hold, ReferenceQueue<Permit> queue) {
        super(handle, queue);
        this.hold = hold;
    }

    PermitHold hold() {
        return hold;
    }
}
