package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import java.util.Base64;

/** Where a page of a listing begins, as text: the end of a key, which need not be text itself. */
final class PageCursor {
    private PageCursor() {}

    static String write(ByteString begin) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(begin.toByteArray());
    }

    /** Reads what {@link #write} made; empty for the first page. */
    static ByteString read(String cursor) {
        try {
            return ByteString.copyFrom(Base64.getUrlDecoder().decode(cursor));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("No page of a listing begins at '" + cursor + "'.", e);
        }
    }
}
