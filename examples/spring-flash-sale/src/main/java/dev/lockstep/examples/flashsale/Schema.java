package dev.lockstep.examples.flashsale;

import dev.lockstep.annotation.Locked;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Creates the tables: once, however many instances start at the same time. */
@Component
public class Schema {
    private final JdbcTemplate jdbc;

    Schema(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Creates what is missing.
     *
     * @param item what is sold
     * @param amount how many there are at first
     */
    @Locked(name = "schema", waitAtMost = "30s")
    public void create(String item, int amount) {
        jdbc.execute("create table if not exists stock"
                + " (item varchar(100) primary key, amount int not null check (amount >= 0), token bigint not null)");
        jdbc.execute("create table if not exists orders"
                + " (id uuid primary key, number bigserial, item varchar(100) not null, buyer varchar(100) not null,"
                + " instance varchar(100) not null, token bigint not null)");
        jdbc.update("insert into stock values (?, ?, 0) on conflict (item) do nothing", item, amount);
    }
}
