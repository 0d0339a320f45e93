import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { forbiddenError, notFoundError, StatusError } from "../../apimachinery/status.ts";
import { scriptedHandler } from "../../testing/scripted-handler.ts";
import { Client } from "../client.ts";
import { EventRecorder } from "./event-recorder.ts";
import { KeyedLanes } from "./keyed-lanes.ts";
import { loopbackTransport } from "../transports/loopback-transport.ts";
import { SeriesEventRecorder } from "./series-event-recorder.ts";
import type { ScriptedAnswer } from "../../testing/scripted-handler.ts";

const regarding = { kind: "Pod", namespace: "a", name: "web", uid: "u", apiVersion: "v1", resourceVersion: "7" };
const started = { type: "Normal", reason: "Started", message: "Container started" } as const;

function setUp(...script: ScriptedAnswer[]) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const server = scriptedHandler(script);
  const client = new Client({ transport: loopbackTransport(server.handler, { username: "test", groups: [] }), clock, userAgent: "test" });
  return { clock, ...server, options: { client, clock, random: seededRandom(1), log: silentLog } };
}

test("recorder: an event as controllers write it", async () => {
  const { clock, bodies, requests, options } = setUp({});
  const recorder = new EventRecorder({ ...options, component: "job-controller" });
  const stopper = new AbortController();
  const running = recorder.run(stopper.signal);
  recorder.record(regarding, started);
  await clock.advance(0);
  deepEqual(requests, ["POST /api/v1/namespaces/a/events"]);
  const { metadata, ...rest } = bodies[0] as { metadata: { name: string } };
  match(metadata.name, /^web\.18[0-9a-f]{14}$/);
  deepEqual(rest, {
    kind: "Event",
    apiVersion: "v1",
    involvedObject: regarding,
    reason: "Started",
    message: "Container started",
    source: { component: "job-controller" },
    firstTimestamp: "2026-01-02T03:04:05Z",
    lastTimestamp: "2026-01-02T03:04:05Z",
    count: 1,
    type: "Normal",
    reportingComponent: "job-controller",
  });
  stopper.abort();
  await running;
});

test("recorder: repetitions are patched, and written anew when the event has gone", async () => {
  const { clock, requests, bodies, options } = setUp({}, {}, notFoundError({ group: "", resource: "events" }, "web"), {});
  const recorder = new EventRecorder({ ...options, component: "kubelet", host: "n1" });
  const stopper = new AbortController();
  const running = recorder.run(stopper.signal);
  for (let index = 0; index < 3; index++) recorder.record(regarding, started);
  await clock.advance(0);
  deepEqual(
    requests.map((line) => line.replace(/web\.[0-9a-f]+/, "web.X")),
    [
      "POST /api/v1/namespaces/a/events",
      "PATCH /api/v1/namespaces/a/events/web.X",
      "PATCH /api/v1/namespaces/a/events/web.X",
      "POST /api/v1/namespaces/a/events",
    ],
  );
  equal((bodies[3] as { count: number }).count, 3);
  stopper.abort();
  await running;
});

test("recorder: what is refused is dropped, what could not be sent is tried again", async () => {
  const { clock, requests, options } = setUp(forbiddenError({ group: "", resource: "events" }, "", "no"), new Error("connection refused"), {});
  const recorder = new EventRecorder({ ...options, component: "kubelet" });
  const stopper = new AbortController();
  const running = recorder.run(stopper.signal);
  recorder.record(regarding, started);
  recorder.record(regarding, { ...started, reason: "Created" });
  await clock.advance(0);
  equal(requests.length, 2);
  await clock.advance(10_000);
  equal(requests.length, 3);
  stopper.abort();
  await running;
  equal(clock.nextDueMs(), undefined);
});

test("recorder: what was recorded before a namespace that goes away refused is not sent any more", async () => {
  const { status } = forbiddenError({ group: "", resource: "events" }, "", "the namespace is being terminated");
  const refused = new StatusError({ ...status, details: { ...status.details, causes: [{ reason: "NamespaceTerminating" }] } });
  const { clock, requests, options } = setUp(refused, {});
  const recorder = new EventRecorder({ ...options, component: "kubelet", lanes: new KeyedLanes(1) });
  for (const name of ["x", "y", "z"]) recorder.record({ ...regarding, name }, started);
  await clock.advance(1);
  const stopper = new AbortController();
  const running = recorder.run(stopper.signal);
  await clock.advance(1);
  deepEqual(requests.length, 1);
  recorder.record({ ...regarding, name: "of the next namespace with this name" }, started);
  await clock.advance(1);
  deepEqual(requests.length, 2);
  stopper.abort();
  await running;
});

test("series: the second is written at once, later ones are counted until it is silent", async () => {
  const { clock, requests, bodies, options } = setUp({}, {}, {}, {});
  const recorder = new SeriesEventRecorder({ ...options, controller: "default-scheduler", instance: "default-scheduler-n1" });
  const stopper = new AbortController();
  const running = recorder.run(stopper.signal);
  const failed = { type: "Warning", reason: "FailedScheduling", action: "Scheduling", note: "0/1 nodes are available" } as const;
  for (let index = 0; index < 4; index++) recorder.record(regarding, failed);
  await clock.advance(0);
  deepEqual(
    requests.map((line) => line.split(" ")[0]),
    ["POST", "PATCH"],
  );
  const { metadata: _metadata, ...first } = bodies[0] as { metadata: object };
  deepEqual(first, {
    kind: "Event",
    apiVersion: "events.k8s.io/v1",
    eventTime: "2026-01-02T03:04:05.678000Z",
    reportingController: "default-scheduler",
    reportingInstance: "default-scheduler-n1",
    action: "Scheduling",
    reason: "FailedScheduling",
    regarding,
    note: "0/1 nodes are available",
    type: "Warning",
  });
  deepEqual(bodies[1], { series: { count: 2, lastObservedTime: "2026-01-02T03:04:05.678000Z" } });
  await clock.advance(400_000);
  deepEqual((bodies[2] as { series: { count: number } }).series.count, 4);
  recorder.record(regarding, failed);
  await clock.advance(0);
  equal(requests[3]!.split(" ")[0], "POST");
  stopper.abort();
  await running;
  equal(clock.nextDueMs(), undefined);
});
