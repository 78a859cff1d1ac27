package dev.lockstep.jdbc;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
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

    private Listing() {}

    static List<LockInfo> read(ResultSet rows, Keys keys) throws SQLException {
        Map<String, Listing> found = new LinkedHashMap<>();
        while (rows.next()) {
            Listing listing = found.computeIfAbsent(rows.getString(1), key -> new Listing());
            boolean held = rows.getInt(3) != 0;
            (held ? listing.holders : listing.waiters).add(entry(rows, held));
        }
        List<LockInfo> locks = new ArrayList<>();
        found.forEach((key, listing) -> locks.add(LockInfo.of(keys.name(key), listing.holders, listing.waiters)));
        return locks;
    }

    private static LockInfo.Entry entry(ResultSet rows, boolean held) throws SQLException {
        HolderInfo holder = new HolderInfo(
                rows.getString(8),
                rows.getString(9),
                rows.getLong(10),
                rows.getString(5),
                Instant.EPOCH.plus(rows.getLong(6), ChronoUnit.MICROS),
                rows.getInt(7) != 0);
        LockInfo.Entry entry = LockInfo.Entry.of(rows.getInt(2) != 0 ? LockMode.SHARED : LockMode.EXCLUSIVE, holder);
        return held
                ? entry.withToken(rows.getLong(4)).withRemaining(Duration.of(rows.getLong(12), ChronoUnit.MICROS))
                : entry;
    }
}
