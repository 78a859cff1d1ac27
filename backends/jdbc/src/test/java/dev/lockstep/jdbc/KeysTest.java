package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeysTest {
    private final Keys keys = new Keys("shop");

    @ParameterizedTest
    @ValueSource(strings = {"order:42", "a/b", "100%", "~", " ", "é", "订单", "🔒", "'; DROP TABLE x; --", "%41", "_"})
    void aNameIsFoundAgainInItsKey(String name) {
        String key = keys.key(name);
        assertThat(keys.name(key)).isEqualTo(name);
        assertThat(key).matches("[!-}]+").startsWith("shop/");
        Keys.Range range = keys.withPrefix(name);
        assertThat(keys.key(name + "x")).isBetween(range.first(), range.last());
    }

    @Test
    void plainNamesCanBeRead() {
        assertThat(keys.key("order:42")).isEqualTo("shop/order:42");
    }

    @Test
    void namespacesDoNotMeet() {
        assertThat(new Keys("a/b").key("c")).isNotEqualTo(new Keys("a").key("b/c"));
        assertThat(new Keys("a%2Fb").key("c")).isNotEqualTo(new Keys("a/b").key("c"));
    }

    @Test
    void theLongestNameFits() {
        assertThat(new Keys("é".repeat(32)).key("é".repeat(256)).length()).isLessThanOrEqualTo(1_800);
    }
}
