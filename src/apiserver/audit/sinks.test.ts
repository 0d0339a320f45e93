import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock, loopTurn } from "../../base/virtual-clock.ts";
import { eventLine } from "./event.ts";
import type { AuditEvent } from "./event.ts";
import { AuditFailures, BatchingSink, truncating } from "./sinks.ts";
import { webhookSink } from "./webhook-sink.ts";

const event = (auditID: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  kind: "Event",
  apiVersion: "audit.k8s.io/v1",
  level: "Metadata",
  auditID,
  stage: "ResponseComplete",
  requestURI: "/version",
  verb: "get",
  user: { username: "jane", groups: ["a", "b"] },
  requestReceivedTimestamp: "2026-01-01T00:00:00.000000Z",
  stageTimestamp: "2026-01-01T00:00:00.000000Z",
  ...more,
});

function parts() {
  const metrics = new MetricRegistry();
  const batches: string[][] = [];
  const arrivals: (() => void)[] = [];
  const sink = {
    process: (events: readonly AuditEvent[]) =>
      new Promise<boolean>((resolve) => {
        batches.push(events.map(({ auditID }) => auditID));
        arrivals.push(() => resolve(true));
      }),
    close: () => Promise.resolve(),
  };
  const dropped = () => /apiserver_audit_error_total\{plugin="buffered"\} (\d+)/.exec(metrics.text())?.[1];
  return { clock: new VirtualClock(), failures: new AuditFailures(metrics, silentLog), metrics, batches, arrivals, sink, dropped };
}

test("batches: whole ones go at once, the rest when it has waited", async () => {
  const { clock, failures, batches, arrivals, sink } = parts();
  const batching = new BatchingSink(sink, { bufferSize: 10, maxBatchSize: 3, maxWaitMs: 1000, isConcurrent: true, clock }, failures);
  batching.process([event("1"), event("2"), event("3"), event("4")]);
  deepEqual(batches, [["1", "2", "3"]]);
  await clock.advance(999, loopTurn);
  equal(batches.length, 1);
  await clock.advance(1, loopTurn);
  deepEqual(batches[1], ["4"]);
  for (const arrive of arrivals) arrive();
  await batching.close();
  equal(clock.nextDueMs(), undefined);
});

test("batches: one after the other where order counts, so many a second where the other side is spared", async () => {
  const one = parts();
  const ordered = new BatchingSink(one.sink, { bufferSize: 10, maxBatchSize: 1, maxWaitMs: 0, isConcurrent: false, clock: one.clock }, one.failures);
  ordered.process([event("1"), event("2")]);
  deepEqual(one.batches, [["1"]]);
  one.arrivals[0]!();
  await loopTurn();
  deepEqual(one.batches, [["1"], ["2"]]);
  const two = parts();
  const throttled = new BatchingSink(
    two.sink,
    { bufferSize: 10, maxBatchSize: 1, maxWaitMs: 60_000, throttle: { perSecond: 2, burst: 1 }, isConcurrent: true, clock: two.clock },
    two.failures,
  );
  throttled.process([event("1"), event("2"), event("3")]);
  const counts: number[] = [];
  for (let halfSeconds = 0; halfSeconds < 3; halfSeconds++) {
    counts.push(two.batches.length);
    await two.clock.advance(500, loopTurn);
  }
  deepEqual(counts, [1, 2, 3]);
});

test("batches: what finds the buffer full is dropped and counted; what waits at the end is sent", async () => {
  const { clock, failures, batches, arrivals, sink, dropped } = parts();
  const batching = new BatchingSink(sink, { bufferSize: 2, maxBatchSize: 2, maxWaitMs: 1000, isConcurrent: false, clock }, failures);
  equal(batching.process([event("1"), event("2")]), true);
  equal(batching.process([event("3"), event("4"), event("5")]), false);
  equal(dropped(), "1");
  const closed = batching.close();
  equal(batching.process([event("6")]), false);
  for (let sent = 0; sent < 2; sent++) {
    arrivals[sent]!();
    await loopTurn();
  }
  await closed;
  deepEqual(batches, [
    ["1", "2"],
    ["3", "4"],
  ]);
  equal(dropped(), "2");
});

test("truncation: a long event loses its objects, a longer one is dropped, a long batch is split", async () => {
  const { failures, metrics } = parts();
  const batches: AuditEvent[][] = [];
  const sink = truncating(
    { process: (events) => batches.push([...events]) > 0, close: () => Promise.resolve() },
    { maxEventBytes: 390, maxBatchBytes: 400 },
    failures,
  );
  equal(await sink.process([event("1"), event("2", { responseObject: "x".repeat(1000) }), event("3", { userAgent: "x".repeat(1000) })]), false);
  deepEqual(
    batches.map((batch) => batch.map(({ auditID, responseObject, annotations }) => [auditID, responseObject, annotations])),
    [[["1", undefined, undefined]], [["2", undefined, { "audit.k8s.io/truncated": "true" }]]],
  );
  ok(metrics.text().includes('apiserver_audit_error_total{plugin="truncate"} 1'));
});

test("webhook: tried again with growing pauses, given up in the end; a refusal is final", async () => {
  const { clock, failures, metrics } = parts();
  const sent: number[] = [];
  let status = 500;
  const bodies: string[] = [];
  const sink = webhookSink({
    clock,
    random: seededRandom(1),
    firstPauseMs: 1000,
    failures,
    send: async (body) => (sent.push(clock.monotonicMs()), bodies.push(Buffer.from(body).toString()), { status, body: new Uint8Array() }),
  });
  const failing = Promise.resolve(sink.process([event("1")]));
  await clock.advance(60_000, loopTurn);
  equal(await failing, false);
  equal(sent.length, 5);
  ok(sent.every((ms, index) => index < 2 || ms - sent[index - 1]! > sent[index - 1]! - sent[index - 2]!));
  deepEqual(Object.keys(JSON.parse(bodies[0]!).items[0]).slice(0, 2), ["level", "auditID"]);
  status = 400;
  equal(await sink.process([event("2")]), false);
  equal(sent.length, 6);
  status = 200;
  equal(await sink.process([event("3")]), true);
  ok(metrics.text().includes('apiserver_audit_error_total{plugin="webhook"} 2'));
});

test("the old format of the log", () => {
  equal(
    eventLine(event("1", { sourceIPs: ["192.0.2.1"], userAgent: 'a"b', objectRef: { namespace: "n" }, responseStatus: { metadata: {}, code: 200 } }), "legacy"),
    '2026-01-01T00:00:00.000000Z AUDIT: id="1" stage="ResponseComplete" ip="192.0.2.1" method="get" user="jane" groups="a","b" as="<self>" asgroups="<lookup>" user-agent="a\\"b" namespace="n" uri="/version" response="200"',
  );
});
