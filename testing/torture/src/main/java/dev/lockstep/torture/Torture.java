package dev.lockstep.torture;

import java.time.Duration;

/** Tortures engines. Thread-safe; to keep the figures right, run one at a time. */
public final class Torture {
    private Torture() {}

    /**
     * Starts the servers of an engine, and breaks them, the links to them and the workers.
     *
     * @param engine which
     * @param settings what the run is like
     * @param progress hears how far it is
     * @return what was seen
     * @throws dev.lockstep.servers.ServerUnavailableException if its servers are not available here
     * @throws Exception if the run could not be carried out
     */
    public static Report run(Engine engine, Settings settings, Progress progress) throws Exception {
        try (Rig rig = engine.start()) {
            return new Run(rig, settings, progress).run();
        }
    }

    /**
     * Uses an engine that belongs to others: only the workers and their links are broken. It leaves there what any
     * client leaves, in a namespace of its own.
     *
     * @param url the engine; may carry a password, which appears nowhere
     * @param ttl of the workers' clients
     * @param settings what the run is like
     * @param progress hears how far it is
     * @return what was seen
     * @throws Exception if the run could not be carried out
     */
    public static Report run(String url, Duration ttl, Settings settings, Progress progress) throws Exception {
        if (url.startsWith("memory:")) {
            return run(Engine.MEMORY, settings, progress);
        }
        String scheme = url.substring(0, Math.max(0, url.indexOf(':')));
        String namespace = "torture-" + settings.seed();
        try (Rig rig = new ProcessRig(new UrlTarget(scheme, url, ttl), namespace)) {
            return new Run(rig, settings, progress).run();
        }
    }
}
