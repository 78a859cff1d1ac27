package dev.lockstep.internal.sim;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The core with a mistake in one of its sources: the source is changed and compiled in memory, and the simulation is run
 * over the result in a class loader of its own. The core itself knows nothing of it.
 *
 * @param right text that is in exactly one place of {@code dev.lockstep.internal}
 * @param wrong the text that replaces it
 */
record Mutant(String name, String right, String wrong) {
    /** The finding of the simulation; null if it finds nothing. */
    @Nullable
    String simulate(long seeds) {
        return run(Simulation.class, 1L, seeds);
    }

    /** The finding of the simulation of elections and semaphores; null if it finds nothing. */
    @Nullable
    String simulateRecipes(long seeds) {
        return run(RecipeSimulation.class, 1L, seeds);
    }

    /** The finding of the simulation of deadlocks; null if it finds nothing. */
    @Nullable
    String simulateDeadlocks(long seeds) {
        return run(DeadlockSimulation.class, 1L, seeds);
    }

    /** The finding of real threads within a time; null if they find nothing. */
    @Nullable
    String runInThreads(long rounds, long nanos) {
        return run(RealThreads.class, rounds, nanos);
    }

    private @Nullable String run(Class<?> runner, long first, long second) {
        Map<String, byte[]> classes = right.isEmpty() ? Map.of() : compile();
        try {
            Class<?> mutated = Class.forName(runner.getName(), true, new MutantLoader(classes));
            return (String) mutated.getMethod("run", long.class, long.class).invoke(null, first, second);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Map<String, byte[]> compile() {
        Path sources = Path.of(System.getProperty("lockstep.core", "."), "src/main/java/dev/lockstep/internal");
        // The formatter may break the line elsewhere.
        Pattern wanted = Pattern.compile(
                Stream.of(right.split("\\s+", -1)).map(Pattern::quote).collect(Collectors.joining("\\s+")));
        Path source = null;
        String text = "";
        int places = 0;
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".java")).toList()) {
                String read = Files.readString(file);
                Matcher matcher = wanted.matcher(read);
                while (matcher.find()) {
                    places++;
                    source = file;
                    text = read.substring(0, matcher.start()) + wrong + read.substring(matcher.end());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (source == null || places != 1) {
            throw new IllegalStateException("The mistake '" + name + "' can no longer be planted. The sources of"
                    + " dev.lockstep.internal must contain this once, not " + places + " times:\n" + right);
        }
        return new MemoryCompiler().compile(source.getFileName().toString(), text);
    }

    @Override
    public String toString() {
        return name;
    }

    /** Compiles one source against the classes of the core. */
    private static final class MemoryCompiler {
        private final Map<String, ByteArrayOutputStream> output = new HashMap<>();

        Map<String, byte[]> compile(String source, String text) {
            JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
            StringWriter messages = new StringWriter();
            try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
                    JavaFileManager memory = new MemoryFiles(files)) {
                boolean compiled = compiler.getTask(
                                messages,
                                memory,
                                null,
                                List.of("-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path")),
                                null,
                                List.of(new Source(source, text)))
                        .call();
                if (!compiled) {
                    throw new IllegalStateException("A mutant of " + source + " does not compile:\n" + messages);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            Map<String, byte[]> classes = new HashMap<>();
            output.forEach((className, bytes) -> classes.put(className, bytes.toByteArray()));
            return classes;
        }

        private static final class Source extends SimpleJavaFileObject {
            private final String text;

            Source(String name, String text) {
                super(URI.create("mutant:///" + name), Kind.SOURCE);
                this.text = text;
            }

            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        }

        private final class MemoryFiles extends ForwardingJavaFileManager<StandardJavaFileManager> {
            MemoryFiles(StandardJavaFileManager files) {
                super(files);
            }

            @Override
            public JavaFileObject getJavaFileForOutput(
                    Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("mutant:///" + className), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        return output.computeIfAbsent(className, key -> new ByteArrayOutputStream());
                    }
                };
            }
        }
    }

    /** Has its own core and its own simulation; all else, the logging included, is its parent's. */
    private static final class MutantLoader extends ClassLoader {
        private final Map<String, byte[]> mutated;

        MutantLoader(Map<String, byte[]> mutated) {
            super(Mutant.class.getClassLoader());
            this.mutated = mutated;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("dev.lockstep.") || name.startsWith("dev.lockstep.logs.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            byte[] bytes = mutated.get(name);
            if (bytes == null) {
                try (var stream = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (stream == null) {
                        throw new ClassNotFoundException(name);
                    }
                    bytes = stream.readAllBytes();
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
