/** The flags `--audit-…` of kube-apiserver, read and checked. */
import { UsageError } from "../commands/arguments.ts";
import { isOn, last, numberOf, secondsOf } from "../components/apiserver/apiserver-flags/flag-values.ts";
import type { Flags } from "../components/apiserver/apiserver-flags/flag-values.ts";

export type AuditMode = "batch" | "blocking" | "blocking-strict";

/** What the log and the webhook have in common. */
export interface AuditBackendFlags {
  readonly mode: AuditMode;
  readonly batch: {
    readonly bufferSize: number;
    readonly maxBatchSize: number;
    readonly maxWaitMs: number;
    readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
  };
  readonly truncation: { readonly maxEventBytes: number; readonly maxBatchBytes: number } | undefined;
}

export interface AuditFlags {
  readonly policyFile: string | undefined;
  readonly log:
    | (AuditBackendFlags & {
        readonly path: string;
        readonly format: "json" | "legacy";
        readonly maxAgeDays: number;
        readonly maxBackups: number;
        readonly maxMegabytes: number;
        readonly compresses: boolean;
      })
    | undefined;
  readonly webhook: (AuditBackendFlags & { readonly configFile: string; readonly firstPauseMs: number }) | undefined;
}

const modes: readonly string[] = ["batch", "blocking", "blocking-strict"];
const formats: readonly string[] = ["legacy", "json"];

/** Expects values of the right types. Throws UsageError in kube-apiserver's words. */
export function readAuditFlags(flags: Flags): AuditFlags {
  const path = last(flags, "audit-log-path") ?? "";
  const configFile = last(flags, "audit-webhook-config-file") ?? "";
  return {
    policyFile: last(flags, "audit-policy-file") || undefined,
    log: path === "" ? undefined : logFlags(flags, path),
    webhook:
      configFile === ""
        ? undefined
        : {
            configFile,
            firstPauseMs: millisecondsOf(flags, "audit-webhook-initial-backoff", 10_000),
            ...backendFlags(flags, "webhook", { mode: "batch", maxBatchSize: 400, maxWaitMs: 30_000, throttles: true, perSecond: 10, burst: 15 }),
          },
  };
}

function logFlags(flags: Flags, path: string): NonNullable<AuditFlags["log"]> {
  const format = last(flags, "audit-log-format") ?? "json";
  const shared = backendFlags(flags, "log", { mode: "blocking", maxBatchSize: 1, maxWaitMs: 0, throttles: false, perSecond: 0, burst: 0 });
  const count = (name: string, fallback: number) => {
    const value = numberOf(flags, `audit-log-${name}`, fallback);
    if (value < 0) throw new UsageError(`--audit-log-${name} ${value} can't be a negative number`);
    return value;
  };
  const sizes = { maxAgeDays: count("maxage", 366), maxBackups: count("maxbackup", 100), maxMegabytes: count("maxsize", 100) };
  if (!formats.includes(format)) throw new UsageError(`invalid audit log format ${format}, allowed formats are ${JSON.stringify(formats.join(","))}`);
  return { ...shared, path, format: format as "json" | "legacy", ...sizes, compresses: isOn(flags, "audit-log-compress", false) };
}

interface BackendDefaults {
  readonly mode: AuditMode;
  readonly maxBatchSize: number;
  readonly maxWaitMs: number;
  readonly throttles: boolean;
  readonly perSecond: number;
  readonly burst: number;
}

function backendFlags(flags: Flags, name: "log" | "webhook", defaults: BackendDefaults): AuditBackendFlags {
  const flag = (rest: string) => `audit-${name}-${rest}`;
  const version = last(flags, flag("version")) ?? "audit.k8s.io/v1";
  if (version !== "audit.k8s.io/v1") throw new UsageError(`invalid audit ${name} version ${version}, allowed versions are "audit.k8s.io/v1"`);
  const mode = last(flags, flag("mode")) ?? defaults.mode;
  if (!modes.includes(mode)) throw new UsageError(`invalid audit ${name} mode ${mode}, allowed modes are ${JSON.stringify(modes.join(","))}`);
  return { mode: mode as AuditMode, batch: batchFlags(flags, name, { ...defaults, mode: mode as AuditMode }), truncation: truncationFlags(flags, name) };
}

function batchFlags(flags: Flags, name: "log" | "webhook", defaults: BackendDefaults): AuditBackendFlags["batch"] {
  const flag = (rest: string) => `audit-${name}-batch-${rest}`;
  const bufferSize = numberOf(flags, flag("buffer-size"), 10_000);
  const maxBatchSize = numberOf(flags, flag("max-size"), defaults.maxBatchSize);
  const isThrottled = isOn(flags, flag("throttle-enable"), defaults.throttles);
  const perSecond = numberOf(flags, flag("throttle-qps"), defaults.perSecond);
  const burst = numberOf(flags, flag("throttle-burst"), defaults.burst);
  if (defaults.mode === "batch") {
    if (bufferSize <= 0) throw new UsageError(`invalid audit batch ${name} buffer size ${bufferSize}, must be a positive number`);
    if (maxBatchSize <= 0) throw new UsageError(`invalid audit batch ${name} max batch size ${maxBatchSize}, must be a positive number`);
    if (isThrottled && perSecond <= 0) throw new UsageError(`invalid audit batch ${name} throttle QPS ${perSecond}, must be a positive number`);
    if (isThrottled && burst <= 0) throw new UsageError(`invalid audit batch ${name} throttle burst ${burst}, must be a positive number`);
  }
  return {
    bufferSize,
    maxBatchSize,
    maxWaitMs: millisecondsOf(flags, flag("max-wait"), defaults.maxWaitMs),
    throttle: isThrottled ? { perSecond, burst } : undefined,
  };
}

function truncationFlags(flags: Flags, name: "log" | "webhook"): AuditBackendFlags["truncation"] {
  const flag = (rest: string) => `audit-${name}-truncate-${rest}`;
  if (!isOn(flags, flag("enabled"), false)) return undefined;
  const maxEventBytes = numberOf(flags, flag("max-event-size"), 102_400);
  const maxBatchBytes = numberOf(flags, flag("max-batch-size"), 10_485_760);
  if (maxEventBytes <= 0 || maxBatchBytes < maxEventBytes) {
    throw new UsageError(
      `invalid audit truncate ${name} max event size ${maxEventBytes} and batch size ${maxBatchBytes}: the event size must be greater than 0 and not more than the batch size`,
    );
  }
  return { maxEventBytes, maxBatchBytes };
}

function millisecondsOf(flags: Flags, name: string, fallbackMs: number): number {
  return secondsOf(flags, name, fallbackMs / 1000) * 1000;
}
