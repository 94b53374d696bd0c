import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/**
 * Writes operations as netloom history check reads them, one JSON object a line, for one process: one thread, one call at a time. Several may write
 * to one file.
 */
public final class History {
    private static final boolean IS_REAL = "realtime".equals(System.getenv("NETLOOM_HISTORY_CLOCK"));

    private final Path file;
    private final String process;

    /** Appends to a file, or if that is null to $NETLOOM_HISTORY. */
    public History(Path file, String process) {
        this.file = file != null ? file : Path.of(System.getenv("NETLOOM_HISTORY"));
        this.process = process;
    }

    /** Appends an event: invoke, ok, fail (no effect, ever) or info (nobody knows). Key and value are JSON: 5, "x", null. */
    public void record(String kind, String f, String key, String value) throws IOException {
        String line = String.format("{\"process\": %s, \"type\": \"%s\", \"f\": \"%s\", \"key\": %s, \"value\": %s, \"time\": %d}%n",
                quoted(process), kind, f, key, value, now());
        Files.write(file, line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Returns a text as JSON. */
    public static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    /** On Linux, nanoTime is the time since the start of the kernel. */
    private static long now() {
        Instant now = Instant.now();
        return IS_REAL ? now.getEpochSecond() * 1_000_000_000L + now.getNano() : System.nanoTime();
    }
}
