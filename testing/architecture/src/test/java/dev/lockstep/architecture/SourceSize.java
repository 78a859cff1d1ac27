package dev.lockstep.architecture;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** Finds files and methods that are too long to read in one go. */
final class SourceSize {
    private final int maxFileLines;
    private final int maxMethodLines;

    SourceSize(int maxFileLines, int maxMethodLines) {
        this.maxFileLines = maxFileLines;
        this.maxMethodLines = maxMethodLines;
    }

    /** The files and methods below some folders that are too long, a line of text each. */
    List<String> tooLong(List<Path> folders) {
        List<Path> files = new ArrayList<>();
        folders.forEach(folder -> files.addAll(javaFiles(folder)));
        List<String> found = new ArrayList<>();
        try {
            for (Path file : files) {
                try (Stream<String> lines = Files.lines(file)) {
                    long count = lines.count();
                    if (count > maxFileLines) {
                        found.add(file + " has " + count + " lines");
                    }
                }
            }
            found.addAll(longMethods(files));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static List<Path> javaFiles(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> longMethods(List<Path> files) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> found = new ArrayList<>();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null,
                    manager,
                    problem -> {},
                    List.of("-proc:none"),
                    null,
                    manager.getJavaFileObjectsFromPaths(files));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new TreeScanner<@Nullable Void, @Nullable Void>() {
                    @Override
                    public @Nullable Void visitMethod(MethodTree method, @Nullable Void nothing) {
                        long from = positions.getStartPosition(unit, method);
                        long to = positions.getEndPosition(unit, method);
                        if (from >= 0 && to >= 0) {
                            long lines = unit.getLineMap().getLineNumber(to)
                                    - unit.getLineMap().getLineNumber(from)
                                    + 1;
                            if (lines > maxMethodLines) {
                                found.add(unit.getSourceFile().getName() + ": " + method.getName() + " has " + lines
                                        + " lines");
                            }
                        }
                        return super.visitMethod(method, nothing);
                    }
                }.scan(unit, null);
            }
        }
        return found;
    }
}
