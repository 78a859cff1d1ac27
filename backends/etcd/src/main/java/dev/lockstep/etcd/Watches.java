package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.WatchCancelRequest;
import dev.lockstep.etcd.proto.Etcd.WatchCreateRequest;
import dev.lockstep.etcd.proto.Etcd.WatchCreateRequest.FilterType;
import dev.lockstep.etcd.proto.Etcd.WatchProgressRequest;
import dev.lockstep.etcd.proto.Etcd.WatchRequest;
import dev.lockstep.etcd.proto.Etcd.WatchResponse;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All watches of a client, on one stream. Safe for use by many threads; nothing blocks. */
final class Watches implements AutoCloseable {
    /*
     * Overview. A watch begins "now" (revision 0), since one that begins in the past is served by a loop of the server
     * that runs ten times a second. When it is in place, its watcher is notified and looks up earlier changes. A watch
     * that has to begin in the past may do so the first time.
     *
     * When the stream ends, for whatever reason, another is opened and all watches are made again, from "now". A watch
     * that the server cancels, because its revision was compacted, is made again too. So each watcher has seen every
     * event, or was asked to look. A stream that is silent is asked for a sign of life now and then.
     */
    private static final Logger log = LoggerFactory.getLogger(Watches.class);

    private final Link link;
    private final Scheduler scheduler;
    private final Backoff backoff;
    private final long timeoutNanos;
    private final Map<Long, Watch> active = new LinkedHashMap<>(); // by id; guarded by this, as all that follows
    private @Nullable Stream stream;
    private boolean opening;
    private boolean closed;
    private int failures;
    private long lastId;

    /** Receives changes, on an event thread: must not block. */
    interface Watcher {
        /** The watch is in place from now on. Earlier changes were not reported. */
        void watching();

        /** Something changed. */
        void changed(Event event);
    }

    /** One watch. */
    final class Watch {
        private final ByteString key;
        private final ByteString end;
        private final boolean deletionsOnly;
        private final Watcher watcher;
        private long id;
        private boolean fromNow;

        private Watch(ByteString key, ByteString end, boolean deletionsOnly, Watcher watcher) {
            this.key = key;
            this.end = end;
            this.deletionsOnly = deletionsOnly;
            this.watcher = watcher;
        }

        /** Ends it. An event that is under way may still be reported. */
        void cancel() {
            synchronized (Watches.this) {
                if (active.remove(id, this) && stream != null) {
                    stream.send(WatchRequest.newBuilder()
                            .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(id)));
                }
            }
        }
    }

    Watches(Link link, BackendContext context) {
        this.link = link;
        this.scheduler = context.scheduler();
        this.backoff = context.retryBackoff();
        this.timeoutNanos = context.requestTimeout().toNanos();
    }

    /** Watches one key from now on. */
    Watch watch(ByteString key, Watcher watcher) {
        return watch(key, ByteString.EMPTY, 0, watcher);
    }

    /** Watches a range of keys, from a revision on; 0 for now. */
    Watch watch(ByteString key, ByteString end, long revision, Watcher watcher) {
        return add(new Watch(key, end, false, watcher), revision);
    }

    /** Watches from now on whether keys that begin with a prefix are deleted. */
    Watch watchDeletions(ByteString prefix, Watcher watcher) {
        return add(new Watch(prefix, Keys.endOf(prefix), true, watcher), 0);
    }

    private synchronized Watch add(Watch watch, long revision) {
        create(watch, revision);
        return watch;
    }

    private void create(Watch watch, long revision) {
        watch.id = ++lastId;
        watch.fromNow = revision == 0;
        active.put(watch.id, watch);
        if (stream == null) {
            watch.fromNow = true;
            open();
        } else {
            stream.create(watch, revision);
        }
    }

    private void open() {
        if (stream != null || opening || closed) {
            return;
        }
        opening = true;
        // On a thread without locks, unlike those that ask for a watch: to open a stream can fail other requests.
        scheduler.schedule(0, this::openNow);
    }

    private void openNow() {
        Stream opened = new Stream();
        link.stream(Rpc.WATCH, opened).whenComplete((requests, failure) -> {
            synchronized (this) {
                opening = false;
                if (failure != null) {
                    openLater();
                } else if (closed || opened.ended) {
                    requests.onError(Status.CANCELLED.asRuntimeException());
                    openLater();
                } else {
                    opened.requests = requests;
                    stream = opened;
                    for (Watch watch : List.copyOf(active.values())) {
                        watch.fromNow = true;
                        opened.create(watch, 0);
                    }
                }
            }
        });
    }

    private void openLater() {
        if (!closed && !active.isEmpty()) {
            scheduler.schedule(backoff.delay(++failures).toNanos(), () -> {
                synchronized (this) {
                    open();
                }
            });
        }
    }

    /** Asks the stream for a sign of life, and gives it up if it gave none to an earlier question. */
    void probe() {
        Stream silent = null;
        synchronized (this) {
            Stream current = stream;
            if (current == null) {
                return;
            }
            long now = scheduler.nanoTime();
            if (!current.probed) {
                current.probed = true;
                current.probedNanos = now;
                current.send(WatchRequest.newBuilder().setProgressRequest(WatchProgressRequest.getDefaultInstance()));
            } else if (now - current.probedNanos > timeoutNanos) {
                silent = current;
            }
        }
        if (silent != null) {
            silent.abandon();
        }
    }

    @Override
    public void close() {
        Stream last;
        synchronized (this) {
            closed = true;
            active.clear();
            last = stream;
        }
        if (last != null) {
            last.abandon();
        }
    }

    /** One stream, until it ends. Its answers come one at a time. */
    private final class Stream implements StreamObserver<WatchResponse> {
        private @Nullable StreamObserver<WatchRequest> requests; // guarded by the watches, as all that follows
        private boolean ended;
        private boolean probed;
        private long probedNanos;

        void create(Watch watch, long revision) {
            WatchCreateRequest.Builder create = WatchCreateRequest.newBuilder()
                    .setKey(watch.key)
                    .setRangeEnd(watch.end)
                    .setStartRevision(revision)
                    .setWatchId(watch.id);
            if (watch.deletionsOnly) {
                create.addFilters(FilterType.NOPUT);
            }
            send(WatchRequest.newBuilder().setCreateRequest(create));
        }

        void send(WatchRequest.Builder request) {
            if (requests != null && !ended) {
                requests.onNext(request.build());
            }
        }

        @Override
        public void onNext(WatchResponse response) {
            Watch watch;
            boolean inPlace = false;
            synchronized (Watches.this) {
                probed = false;
                failures = 0;
                watch = active.get(response.getWatchId());
                if (response.getCanceled()) {
                    if (watch == null && !response.getCreated()) {
                        return; // as asked
                    }
                    canceled(watch, response);
                    return;
                }
                inPlace = watch != null && response.getCreated() && watch.fromNow;
            }
            if (watch != null) {
                if (inPlace) {
                    watch.watcher.watching();
                }
                response.getEventsList().forEach(watch.watcher::changed);
            }
        }

        private void canceled(@Nullable Watch watch, WatchResponse response) {
            if (watch != null && response.getCompactRevision() > 0) {
                active.remove(watch.id);
                Watches.this.create(watch, 0);
                return;
            }
            log.debug("A watch was refused: {}", response.getCancelReason());
            link.forgetToken();
            abandon();
        }

        /** Ends the stream; its watches continue on the next one. */
        void abandon() {
            synchronized (Watches.this) {
                if (requests != null && !ended) {
                    requests.onError(Status.CANCELLED.asRuntimeException());
                }
                end();
            }
        }

        @Override
        public void onError(Throwable failure) {
            end();
        }

        @Override
        public void onCompleted() {
            end();
        }

        private void end() {
            synchronized (Watches.this) {
                ended = true;
                if (stream == this) {
                    stream = null;
                    openLater();
                }
            }
        }
    }
}
