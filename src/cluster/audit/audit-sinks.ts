/** The sinks that flags ask for: log and webhook, each with its batches and truncation. */
import type { MetricRegistry } from "../../base/metrics.ts";
import type { AuditOptions } from "../../apiserver/audit/auditor.ts";
import { eventLine } from "../../apiserver/audit/event.ts";
import { readPolicy } from "../../apiserver/audit/policy.ts";
import { AuditFailures, BatchingSink, allSinks, truncating } from "../../apiserver/audit/sinks.ts";
import type { AuditSink } from "../../apiserver/audit/sinks.ts";
import { webhookSink } from "../../apiserver/audit/webhook-sink.ts";
import { yamlToJson } from "../../apimachinery/yaml/yaml.ts";
import { UsageError } from "../commands/arguments.ts";
import type { Environment } from "../environment.ts";
import { readText } from "../files/read-text.ts";
import { webhookSender } from "../connections/webhook-sender.ts";
import type { AuditBackendFlags, AuditFlags } from "./audit-options.ts";
import { RotatingFile, dayMs } from "./rotating-file.ts";

/** Undefined when nothing is audited: without a policy, or without anywhere to write. Throws UsageError. */
export async function auditOptions(
  { policyFile, log, webhook }: AuditFlags,
  environment: Environment,
): Promise<((metrics: MetricRegistry) => AuditOptions) | undefined> {
  const policy = policyFile === undefined ? undefined : await loadPolicy(policyFile);
  const send =
    webhook === undefined
      ? undefined
      : await webhookSender(webhook.configFile).catch((error: unknown) => Promise.reject(new UsageError(`initializing audit webhook: ${messageOf(error)}`)));
  if (policy === undefined || (log === undefined && webhook === undefined)) return undefined;
  const file = log === undefined ? undefined : openLog(log, environment);
  return (metrics) => {
    const failures = new AuditFailures(metrics, environment.log);
    const sinks: AuditSink[] = [];
    if (log !== undefined && file !== undefined) sinks.push(wrapped(logSink(file, log.format, failures), log, { environment, failures, isConcurrent: false }));
    if (webhook !== undefined) {
      const { clock, random } = environment;
      sinks.push(
        wrapped(webhookSink({ send: send!, clock, random, firstPauseMs: webhook.firstPauseMs, failures }), webhook, {
          environment,
          failures,
          isConcurrent: true,
        }),
      );
    }
    return { policy, sink: allSinks(sinks), isStrict: log?.mode === "blocking-strict" || webhook?.mode === "blocking-strict" };
  };
}

async function loadPolicy(path: string) {
  try {
    const text = await readText(path).catch((error: unknown) =>
      Promise.reject(new Error(`failed to read file path ${JSON.stringify(path)}: ${messageOf(error)}`)),
    );
    return readPolicy(yamlToJson(Buffer.from(text)), path);
  } catch (error) {
    throw new UsageError(`loading audit policy file: ${messageOf(error)}`);
  }
}

interface LineWriter {
  append(line: string): void;
  close(): Promise<void>;
}

function openLog(log: NonNullable<AuditFlags["log"]>, { clock }: Environment): LineWriter {
  if (log.path === "-") return { append: (line) => void process.stdout.write(`${line}\n`), close: () => Promise.resolve() };
  try {
    return new RotatingFile({
      path: log.path,
      maxBytes: log.maxMegabytes * 1024 * 1024,
      maxBackups: log.maxBackups,
      maxAgeMs: log.maxAgeDays * dayMs,
      compresses: log.compresses,
      clock,
    });
  } catch (error) {
    throw new UsageError(`ensureLogFile: ${messageOf(error)}`);
  }
}

function logSink(file: LineWriter, format: "json" | "legacy", failures: AuditFailures): AuditSink {
  return {
    process(events) {
      try {
        for (const event of events) file.append(eventLine(event, format));
        return true;
      } catch (error) {
        return failures.note("log", events, messageOf(error));
      }
    },
    close: () => file.close(),
  };
}

function wrapped(
  sink: AuditSink,
  { mode, batch, truncation }: AuditBackendFlags,
  { environment, failures, isConcurrent }: { environment: Environment; failures: AuditFailures; isConcurrent: boolean },
): AuditSink {
  const cut = truncation === undefined ? sink : truncating(sink, truncation, failures);
  if (mode !== "batch") return cut;
  const { throttle, ...rest } = batch;
  return new BatchingSink(cut, { ...rest, ...(throttle !== undefined && { throttle }), isConcurrent, clock: environment.clock }, failures);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
