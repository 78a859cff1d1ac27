package dev.lockstep.zookeeper;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.HolderText;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The data of a claim's node, for people and for {@code inspect}: a line for each fact. Only the mode decides anything:
 * a writer that has become a reader says so here, since a node's name cannot be changed.
 *
 * @param mode how the lock is held or wanted; empty if the data is foreign
 * @param claim the claim's key, which distinguishes plain nodes
 * @param holder who it is
 * @param waitsFor what the holder waits for, if it has recorded that
 */
record NodeData(Optional<LockMode> mode, String claim, HolderInfo holder, Optional<LockInfo.Wait> waitsFor) {
    private static final String UNKNOWN = "unknown";

    byte[] bytes() {
        String text = HolderText.line("mode", mode.map(LockMode::name).orElse(UNKNOWN))
                + HolderText.line("claim", claim)
                + HolderText.write(holder)
                + waitsFor.map(HolderText::write).orElse("");
        return text.getBytes(StandardCharsets.UTF_8);
    }

    NodeData with(Optional<LockInfo.Wait> other) {
        return new NodeData(mode, claim, holder, other);
    }

    /** The id of the claim, whose key has the number of its try, too; empty if the data is foreign. */
    Optional<String> claimId() {
        int last = claim.lastIndexOf('.');
        return last > 0 ? Optional.of(claim.substring(0, last)) : Optional.empty();
    }

    /** Whether data says that its writer has become a reader; cheaper than {@link #parse}. */
    static boolean isShared(byte @Nullable [] bytes) {
        return bytes != null && new String(bytes, StandardCharsets.UTF_8).startsWith("mode=" + LockMode.SHARED + "\n");
    }

    /** Parses data of any writer: missing values are "unknown". */
    static NodeData parse(byte @Nullable [] bytes, Instant created) {
        Map<String, String> facts = HolderText.read(bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8));
        HolderInfo holder = HolderText.holder(facts, UNKNOWN, created);
        return new NodeData(mode(facts.get("mode")), facts.getOrDefault("claim", ""), holder, HolderText.waitOf(facts));
    }

    private static Optional<LockMode> mode(@Nullable String text) {
        for (LockMode mode : LockMode.values()) {
            if (mode.name().equals(text)) {
                return Optional.of(mode);
            }
        }
        return Optional.empty();
    }
}
