package dev.lockstep.examples.flashsale;

import dev.lockstep.servers.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Two instances of the service, as processes. Used by one thread. */
final class Instances implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(60);

    private final List<JavaProcess> processes = new ArrayList<>();
    private final List<String> urls;

    /** Starts them side by side. */
    Instances(List<Integer> ports, List<String> properties) {
        urls = ports.stream().map(port -> "http://localhost:" + port).toList();
        try {
            for (int port : ports) {
                List<String> arguments = new ArrayList<>(properties);
                arguments.add("--server.port=" + port);
                arguments.add("--flashsale.instances=" + String.join(",", urls));
                arguments.add("--logging.level.root=warn");
                processes.add(JavaProcess.start(Instance.class.getName(), arguments.toArray(String[]::new)));
            }
            for (JavaProcess process : processes) {
                String line = process.next(START);
                while (!line.equals(Instance.READY)) {
                    System.out.println(line);
                    line = process.next(START);
                }
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    List<String> urls() {
        return urls;
    }

    /** Kills one, as {@code kill -9} does. */
    void kill(int index) {
        processes.get(index).kill();
    }

    @Override
    public void close() {
        processes.forEach(JavaProcess::close);
    }
}
