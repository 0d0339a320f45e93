import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { readAuditFlags } from "./audit-options.ts";
import { RotatingFile, dayMs } from "./rotating-file.ts";

const read = (flags: Record<string, string>) => readAuditFlags(new Map(Object.entries(flags).map(([name, value]) => [name, [value]])));

test("audit flags: defaults", () => {
  deepEqual(read({}), { policyFile: undefined, log: undefined, webhook: undefined });
  deepEqual(read({ "audit-log-path": "-" }).log, {
    path: "-",
    format: "json",
    mode: "blocking",
    maxAgeDays: 366,
    maxBackups: 100,
    maxMegabytes: 100,
    compresses: false,
    batch: { bufferSize: 10_000, maxBatchSize: 1, maxWaitMs: 0, throttle: undefined },
    truncation: undefined,
  });
  deepEqual(read({ "audit-webhook-config-file": "f", "audit-webhook-truncate-enabled": "true", "audit-webhook-batch-max-wait": "1m30s" }).webhook, {
    configFile: "f",
    mode: "batch",
    firstPauseMs: 10_000,
    batch: { bufferSize: 10_000, maxBatchSize: 400, maxWaitMs: 90_000, throttle: { perSecond: 10, burst: 15 } },
    truncation: { maxEventBytes: 102_400, maxBatchBytes: 10_485_760 },
  });
});

test("audit flags: refusals", () => {
  const table: [flags: Record<string, string>, message: string][] = [
    [{ "audit-log-path": "-", "audit-log-format": "xml" }, 'invalid audit log format xml, allowed formats are "legacy,json"'],
    [{ "audit-log-path": "-", "audit-log-mode": "never" }, 'invalid audit log mode never, allowed modes are "batch,blocking,blocking-strict"'],
    [{ "audit-webhook-config-file": "f", "audit-webhook-batch-buffer-size": "0" }, "invalid audit batch webhook buffer size 0, must be a positive number"],
  ];
  for (const [flags, message] of table) throws(() => read(flags), { message });
});

test("audit log: a file is set aside when it is full; old ones go", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coracle-audit-"));
  try {
    const clock = new VirtualClock();
    const options = { path: join(folder, "audit.log"), maxBytes: 10, maxBackups: 2, maxAgeMs: dayMs, compresses: false, clock };
    const file = new RotatingFile(options);
    for (const line of ["first", "second", "third"]) file.append(line);
    deepEqual(readdirSync(folder).sort(), ["audit-2026-01-01T00-00-00.000.log", "audit-2026-01-01T00-00-00.001.log", "audit.log"]);
    equal(readFileSync(join(folder, "audit.log"), "utf8"), "third\n");
    equal(statSync(join(folder, "audit.log")).mode & 0o777, 0o600);
    file.append("fourth");
    equal(readdirSync(folder).length, 3, "two set aside are kept");
    await clock.advance(dayMs + 10);
    file.append("fifth");
    deepEqual(readdirSync(folder).sort(), ["audit-2026-01-02T00-00-00.010.log", "audit.log"], "those of yesterday go");
    await file.close();
    const again = new RotatingFile({ ...options, compresses: true });
    again.append("sixth");
    await again.close();
    equal(readdirSync(folder).filter((name) => name.endsWith(".gz")).length, 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
