package dev.lockstep.benchmarks.worker;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** How much of the processors this process has used. */
final class ProcessCpu {
    private ProcessCpu() {}

    static long nanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
