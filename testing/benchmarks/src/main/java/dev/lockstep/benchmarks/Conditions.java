package dev.lockstep.benchmarks;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where and how a sheet was measured. Each sheet has its own, because an engine's sheets may come from different runs.
 *
 * @param server the server's version and settings
 * @param machine the JDK and the machine, with its load before the first window
 */
record Conditions(Map<String, String> server, Map<String, String> machine) {
    private static final String LOAD = "load before";

    /** As they are now. */
    static Conditions now(Map<String, String> server) {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("JDK", Runtime.version().toString());
        machine.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        machine.put(
                LOAD, Measure.human(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
        machine.put("system", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        return new Conditions(new TreeMap<>(server), machine);
    }

    /** The machine without its load, which differs from sheet to sheet. */
    String machineText() {
        Map<String, String> lasting = new LinkedHashMap<>(machine);
        lasting.remove(LOAD);
        return Page.list(lasting);
    }

    String serverText() {
        return Page.list(server);
    }

    String load() {
        return machine.getOrDefault(LOAD, "unknown");
    }
}
