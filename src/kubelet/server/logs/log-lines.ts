/** Lines of CRI log files: `2026-01-02T03:04:05.123456789Z stdout F text`. Pure. */
export interface LogEntry {
  readonly time: string;
  readonly stream: "stdout" | "stderr";
  /** The line goes on in the next entry. */
  readonly isPartial: boolean;
  readonly content: string;
}

/** Undefined for what is no such line. `line` has no line feed. */
export function parseLogLine(line: string): LogEntry | undefined {
  const first = line.indexOf(" ");
  const second = line.indexOf(" ", first + 1);
  const third = line.indexOf(" ", second + 1);
  if (first < 0 || second < 0) return undefined;
  const stream = line.slice(first + 1, second);
  if (stream !== "stdout" && stream !== "stderr") return undefined;
  const tag = third < 0 ? line.slice(second + 1) : line.slice(second + 1, third);
  return { time: line.slice(0, first), stream, isPartial: tag.split(":")[0] === "P", content: third < 0 ? "" : line.slice(third + 1) };
}
