package dev.lockstep.benchmarks.core;

import dev.lockstep.benchmarks.Spread;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.openjdk.jmh.annotations.Benchmark;

/** The report as text: a block for each scenario, a line for each benchmark. */
final class Table {
    private static final List<Class<?>> SCENARIOS =
            List.of(Uncontended.class, Reentry.class, Contended.class, Sticky.class);

    private Table() {}

    static String of(Measurements measurements) {
        StringBuilder text = new StringBuilder();
        for (Class<?> scenario : SCENARIOS) {
            List<Method> methods = benchmarks(scenario, measurements);
            if (!methods.isEmpty()) {
                text.append(scenario.getAnnotation(Scenario.class).value()).append('\n');
                text.append(line("", "ops/s", "slowest … fastest", "time, × yardstick", "at best", "goal"));
                methods.forEach(method -> text.append(row(method, measurements)));
                text.append('\n');
            }
        }
        return text.toString();
    }

    /** The benchmarks of a scenario that were measured: yardsticks first, then by name. */
    private static List<Method> benchmarks(Class<?> scenario, Measurements measurements) {
        return Arrays.stream(scenario.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Benchmark.class))
                .filter(method -> measurements.benchmarks().contains(name(method)))
                .sorted((a, b) -> {
                    int byKind =
                            Boolean.compare(versus(a).isPresent(), versus(b).isPresent());
                    return byKind != 0 ? byKind : a.getName().compareTo(b.getName());
                })
                .toList();
    }

    private static String row(Method method, Measurements measurements) {
        Spread speed = measurements.speed(name(method));
        String ratio = "";
        String best = "";
        String goal = "";
        if (versus(method).isPresent()) {
            Versus versus = versus(method).get();
            String yardstick = method.getDeclaringClass().getName() + "." + versus.value();
            if (measurements.benchmarks().contains(yardstick)) {
                Spread times = measurements.times(name(method), yardstick);
                ratio = String.format(Locale.ROOT, "%.2f (%.2f … %.2f)", times.median(), times.min(), times.max());
                best = String.format(
                        Locale.ROOT, "%.2f", measurements.speed(yardstick).max() / speed.max());
                goal = goal(versus.goal(), times.median());
            }
        }
        return line(
                method.getName(),
                human(speed.median()),
                human(speed.min()) + " … " + human(speed.max()),
                ratio,
                best,
                goal);
    }

    private static String goal(double goal, double actual) {
        if (Double.isInfinite(goal)) {
            return "";
        }
        String most = String.format(Locale.ROOT, goal == Math.rint(goal) ? "%.0f" : "%.2f", goal);
        return "at most " + most + ": " + (actual <= goal ? "met" : "MISSED");
    }

    private static String line(Object... cells) {
        return String.format(Locale.ROOT, "  %-22s %9s  %-21s  %-26s %-7s %s", cells)
                        .stripTrailing() + "\n";
    }

    private static String human(double operations) {
        if (operations >= 1e6) {
            return String.format(Locale.ROOT, "%.2f M", operations / 1e6);
        }
        return operations >= 1e3
                ? String.format(Locale.ROOT, "%.1f k", operations / 1e3)
                : String.format(Locale.ROOT, "%.1f", operations);
    }

    private static Optional<Versus> versus(Method method) {
        return Optional.ofNullable(method.getAnnotation(Versus.class));
    }

    private static String name(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName();
    }
}
