package dev.lockstep.examples.flashsale;

import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** The orders that were served. */
@Repository
class Orders {
    /**
     * An order that was served.
     *
     * @param number its place, from 1
     * @param buyer who bought
     * @param instance which instance sold
     * @param token the token of the lock; as a text, since it is too long for a number in JavaScript
     */
    record Row(long number, String buyer, String instance, String token) {}

    /**
     * The sales of an instance.
     *
     * @param instance the instance
     * @param sold how many
     */
    record Sales(String instance, int sold) {}

    private final JdbcTemplate jdbc;
    private final String instance;

    Orders(JdbcTemplate jdbc, @Value("${flashsale.instance}") String instance) {
        this.jdbc = jdbc;
        this.instance = instance;
    }

    boolean contains(UUID id) {
        return count("select count(*) from orders where id = ?", id) > 0;
    }

    void add(Order order, long token) {
        jdbc.update(
                "insert into orders (id, item, buyer, instance, token) values (?, ?, ?, ?, ?)",
                order.id(),
                order.item(),
                order.buyer(),
                instance,
                token);
    }

    void clear() {
        jdbc.update("delete from orders");
    }

    int count() {
        return count("select count(*) from orders");
    }

    private int count(String query, Object... arguments) {
        return Objects.requireNonNull(jdbc.queryForObject(query, Integer.class, arguments));
    }

    List<Row> latest(int most) {
        return jdbc.query(
                "select number, buyer, instance, token from orders order by number desc limit ?",
                (row, index) -> new Row(
                        row.getLong("number"),
                        row.getString("buyer"),
                        row.getString("instance"),
                        row.getString("token")),
                most);
    }

    List<Sales> byInstance() {
        return jdbc.query(
                "select instance, count(*) as sold from orders group by instance order by instance",
                (row, index) -> new Sales(row.getString("instance"), row.getInt("sold")));
    }
}
