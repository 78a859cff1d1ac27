package dev.lockstep.internal.turnstile;

import org.jspecify.annotations.Nullable;

/**
 * A doubly linked list through its elements: adds and removes anywhere in constant time and allocates nothing. An
 * element is in one chain at a time. Not thread-safe.
 */
final class Chain<T extends Chain.Link<T>> {
    /** The base of an element. */
    abstract static class Link<T> {
        @Nullable
        T previous;

        @Nullable
        T next;

        boolean linked;
    }

    private @Nullable T first;
    private @Nullable T last;
    private int size;

    @Nullable
    T first() {
        return first;
    }

    boolean isEmpty() {
        return first == null;
    }

    int size() {
        return size;
    }

    void add(T element) {
        T tail = last;
        element.previous = tail;
        element.next = null;
        element.linked = true;
        if (tail == null) {
            first = element;
        } else {
            tail.next = element;
        }
        last = element;
        size++;
    }

    void addFirst(T element) {
        T head = first;
        element.previous = null;
        element.next = head;
        element.linked = true;
        if (head == null) {
            last = element;
        } else {
            head.previous = element;
        }
        first = element;
        size++;
    }

    /** Removes an element if it is in the chain; its {@code next} stays, so that a loop may remove where it stands. */
    boolean remove(T element) {
        if (!element.linked) {
            return false;
        }
        T before = element.previous;
        T after = element.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        element.linked = false;
        size--;
        return true;
    }
}
