package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import java.util.stream.Collectors;
import org.springframework.transaction.annotation.Transactional;

/** A service with locked methods. */
class Shop {
    private final LockClient locks;

    Shop(LockClient locks) {
        this.locks = locks;
    }

    @Locked(name = "order", key = "#number")
    @Transactional
    public String ship(int number) {
        return held(locks);
    }

    /** The locks that are held now. */
    static String held(LockClient locks) {
        return locks.list("").stream().map(info -> info.name()).sorted().collect(Collectors.joining(" "));
    }
}
