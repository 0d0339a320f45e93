/** Structured log: constant message, data in fields. */
export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields added to every line. */
  with(fields: LogFields): Log;
}

const order: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** A log that hands one finished line per entry to `write`. `nowMs` gives the time shown (RFC 3339); a `level` that may change is asked for at each line. */
export function createLog(options: { level: LogLevel | (() => LogLevel); write: (line: string) => void; nowMs: () => number; fields?: LogFields }): Log {
  const { level: asked } = options;
  const entry = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (order.indexOf(level) < order.indexOf(typeof asked === "string" ? asked : asked())) return;
    const time = new Date(options.nowMs()).toISOString();
    options.write(`${time} ${level.toUpperCase().padEnd(5)} ${message}${formatFields({ ...options.fields, ...fields })}`);
  };
  return {
    debug: entry("debug"),
    info: entry("info"),
    warn: entry("warn"),
    error: entry("error"),
    with: (fields) => createLog({ ...options, fields: { ...options.fields, ...fields } }),
  };
}

/** A log that keeps nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLog };

function formatFields(fields: LogFields): string {
  let text = "";
  for (const [key, value] of Object.entries(fields)) text += ` ${key}=${formatValue(value)}`;
  return text;
}

function formatValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`);
  if (typeof value === "string") return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "undefined";
}
