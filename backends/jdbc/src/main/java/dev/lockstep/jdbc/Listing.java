package dev.lockstep.jdbc;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.HolderLines;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What {@link Sql#list} tells, for people. */
final class Listing {
    private final List<LockInfo.Entry> holders = new ArrayList<>();
    private final List<LockInfo.Entry> waiters = new ArrayList<>();

    private int limit; // of a semaphore

    private Listing() {}

    static List<LockInfo> read(ResultSet rows, Keys keys) throws SQLException {
        Map<String, Listing> found = new LinkedHashMap<>();
        while (rows.next()) {
            Listing listing = found.computeIfAbsent(rows.getString(1), key -> new Listing());
            listing.limit = Math.max(listing.limit, rows.getInt(16));
            boolean held = rows.getInt(3) != 0;
            (held ? listing.holders : listing.waiters).add(entry(rows, held));
        }
        List<LockInfo> locks = new ArrayList<>();
        found.forEach((key, listing) -> locks.add(listing.of(keys.name(key))));
        return locks;
    }

    private LockInfo of(String name) {
        LockInfo info = LockInfo.of(name, holders, waiters);
        return limit > 0 ? info.withLimit(limit) : info;
    }

    private static LockInfo.Entry entry(ResultSet rows, boolean held) throws SQLException {
        HolderInfo holder = new HolderInfo(
                rows.getString(8),
                rows.getString(9),
                rows.getLong(10),
                rows.getString(5),
                Instant.EPOCH.plus(rows.getLong(6), ChronoUnit.MICROS),
                rows.getInt(7) != 0);
        LockInfo.Entry entry = LockInfo.Entry.of(rows.getInt(2) != 0 ? LockMode.SHARED : LockMode.EXCLUSIVE, holder)
                .withPermits(rows.getInt(14))
                .withClaim(rows.getString(13));
        if (!held) {
            return entry;
        }
        entry = entry.withToken(rows.getLong(4)).withRemaining(Duration.of(rows.getLong(12), ChronoUnit.MICROS));
        String wait = rows.getString(15);
        return wait == null
                ? entry
                : HolderLines.waitOf(HolderLines.read(wait))
                        .map(entry::withWait)
                        .orElse(entry);
    }
}
