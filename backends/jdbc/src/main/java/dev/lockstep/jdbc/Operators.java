package dev.lockstep.jdbc;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.HolderText;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Turns the rows of {@link UpkeepSql#list} into what operators see. */
final class Operators {
    private final List<LockInfo.Entry> holders = new ArrayList<>();
    private final List<LockInfo.Entry> waiters = new ArrayList<>();

    private int limit; // of a semaphore

    private Operators() {}

    static List<LockInfo> read(ResultSet rows, Keys keys) throws SQLException {
        Map<String, Operators> found = new LinkedHashMap<>();
        while (rows.next()) {
            Operators lock = found.computeIfAbsent(rows.getString(1), key -> new Operators());
            lock.limit = Math.max(lock.limit, rows.getInt(16));
            boolean held = rows.getInt(3) != 0;
            (held ? lock.holders : lock.waiters).add(entry(rows, held));
        }
        List<LockInfo> locks = new ArrayList<>();
        found.forEach((key, lock) -> locks.add(lock.of(keys.name(key))));
        return locks;
    }

    private LockInfo of(String name) {
        LockInfo info = LockInfo.of(name, holders, waiters);
        return limit > 0 ? info.withLimit(limit) : info;
    }

    private static LockInfo.Entry entry(ResultSet rows, boolean held) throws SQLException {
        HolderInfo holder = HolderInfo.of(rows.getString(8), rows.getString(9), rows.getLong(10))
                .withThread(rows.getString(5))
                .withSince(Instant.EPOCH.plus(rows.getLong(6), ChronoUnit.MICROS))
                .withSticky(rows.getInt(7) != 0);
        LockInfo.Entry entry = LockInfo.Entry.of(rows.getInt(2) != 0 ? LockMode.SHARED : LockMode.EXCLUSIVE, holder)
                .withPermits(rows.getInt(14))
                .withClaim(rows.getString(13));
        if (!held) {
            return entry;
        }
        long token = rows.getLong(4); // drawn from the database's clock when the lock is granted
        entry = entry.withToken(token)
                .withGranted(Instant.EPOCH.plus(token, ChronoUnit.MICROS))
                .withRemaining(Duration.of(rows.getLong(12), ChronoUnit.MICROS));
        String wait = rows.getString(15);
        return wait == null
                ? entry
                : HolderText.waitOf(HolderText.read(wait)).map(entry::withWait).orElse(entry);
    }
}
