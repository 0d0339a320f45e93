import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { silentLog } from "../base/log.ts";
import { seededRandom } from "../base/random.ts";
import { loopTurn, VirtualClock } from "../base/virtual-clock.ts";
import { bytesResponse } from "../apimachinery/request.ts";
import { alreadyExistsError, internalServerError, StatusError } from "../apimachinery/status.ts";
import { Client, edited, InformerSet, loopbackTransport, resources } from "../client/index.ts";
import { ScriptedStream } from "../testing/scripted-handler.ts";
import { createAction, defineController, eventAction, nothingToDo, ownKey, updateStatusAction, watch } from "./index.ts";
import { UncertainWrites } from "./uncertain-writes.ts";
import type { ApiRequest, ApiResponse } from "../apimachinery/request.ts";
import type { ConfigMap, Namespace } from "../api/core-v1/types.ts";
import type { Action, Controller, ReconcileRecord } from "./index.ts";
import type { ActionResult, Outcome } from "./plan.ts";

/** A watch per resource, and writes answered by `answer`; what is written is not shown to the watches unless the test does it. */
function setUp(controller: Controller, answer: (request: ApiRequest, body: unknown) => object | StatusError) {
  const clock = new VirtualClock();
  const streams = new Map<string, ScriptedStream>();
  const requests: string[] = [];
  const events: string[] = [];
  const records: ReconcileRecord[] = [];
  const handler = async (request: ApiRequest): Promise<ApiResponse> => {
    if (request.query.includes("watch=true")) {
      const stream = new ScriptedStream({
        type: "BOOKMARK",
        object: { metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } } },
      });
      streams.set(request.path.slice(request.path.lastIndexOf("/") + 1), stream);
      return { status: 200, headers: {}, body: { kind: "stream", chunks: stream.chunks(request.signal) } };
    }
    requests.push(`${clock.monotonicMs()} ${request.method} ${request.path}`);
    const result = answer(request, request.body.length === 0 ? undefined : JSON.parse(Buffer.from(request.body).toString()));
    return result instanceof StatusError
      ? bytesResponse(result.code, "application/json", JSON.stringify(result.status))
      : bytesResponse(200, "application/json", JSON.stringify(result));
  };
  const client = new Client({ transport: loopbackTransport(handler, { username: "test", groups: [] }), clock, userAgent: "test" });
  const random = seededRandom(1);
  const informers = new InformerSet({ client, clock, random, log: silentLog });
  const stopper = new AbortController();
  const services = {
    client,
    informers,
    clock,
    random,
    log: silentLog,
    events: { record: (_: object, event: { reason: string; message: string }) => events.push(`${event.reason}: ${event.message}`) },
    onReconciled: (record: ReconcileRecord) => records.push(record),
  };
  const running = controller.run(services, stopper.signal);
  const stop = async () => {
    stopper.abort();
    await running;
    await informers.close();
    equal(clock.nextDueMs(), undefined);
  };
  return { clock, streams, requests, events, records, stop };
}

const namespace = (name: string, resourceVersion: string): Namespace => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion },
  status: { phase: "Active" },
});
const quota = new StatusError({ reason: "Forbidden", code: 403, message: "exceeded quota" });

/** Wants a ConfigMap in each namespace and counts them in an annotation of its status. */
const example = defineController<{ namespace: Namespace; configMap: ConfigMap | undefined }>({
  name: "example",
  watches: [watch(resources.namespaces, { keys: ownKey }), watch(resources.configMaps, { keys: (object) => [object.metadata.namespace ?? ""] })],
  snapshot(key, caches) {
    const found = caches.of(resources.namespaces).get("", key) as Namespace | undefined;
    return found && { namespace: found, configMap: caches.of(resources.configMaps).get(key, "wanted") as ConfigMap | undefined };
  },
  plan({ namespace: found, configMap }) {
    if (configMap !== undefined) return nothingToDo;
    const create = createAction(
      resources.configMaps,
      { metadata: { name: "wanted", namespace: found.metadata.name! } },
      {
        onDone: (made) => [eventAction({}, { type: "Normal", reason: "Created", message: made.metadata.name! })],
        onError: (error) => ({ severity: "continue", actions: [eventAction({}, { type: "Warning", reason: "FailedCreate", message: error.message })] }),
      },
    );
    return {
      actions: [create],
      reasons: ["it is missing"],
      next: ({ failure }) => ({
        actions: [
          updateStatusAction(
            resources.namespaces,
            edited<Namespace>(found, (draft) => void (draft.status = { phase: failure?.message ?? "Active" })),
          ),
        ],
      }),
    };
  },
});

test("controller: acts once, and not again before it has seen what it did", async () => {
  const { streams, requests, events, records, stop } = setUp(example, (request, body) => {
    const { metadata } = body as ConfigMap;
    return { metadata: { ...metadata, resourceVersion: request.method === "POST" ? "10" : "11" } };
  });
  await loopTurn();
  streams.get("namespaces")!.push({ type: "ADDED", object: namespace("a", "2") });
  await loopTurn();
  streams.get("namespaces")!.push({ type: "MODIFIED", object: namespace("a", "3") });
  await loopTurn();
  deepEqual(requests, ["0 POST /api/v1/namespaces/a/configmaps", "0 PUT /api/v1/namespaces/a/status"]);
  deepEqual(events, ["Created: wanted"]);
  streams.get("configmaps")!.push({ type: "ADDED", object: { metadata: { name: "wanted", namespace: "a", resourceVersion: "10" } } });
  streams.get("namespaces")!.push({ type: "MODIFIED", object: namespace("a", "11") });
  await loopTurn();
  deepEqual([requests.length, records.map(({ plan }) => plan.reasons)], [2, [["it is missing"], undefined]]);
  await stop();
});

test("controller: a refusal is told, the rest is done, and the key comes back with growing pauses", async () => {
  const { clock, streams, requests, events, stop } = setUp(example, (request, body) =>
    request.method === "POST" ? quota : { metadata: (body as Namespace).metadata },
  );
  await loopTurn();
  streams.get("namespaces")!.push({ type: "ADDED", object: namespace("a", "1") });
  await clock.advance(20);
  deepEqual(
    requests,
    [0, 5, 15].flatMap((atMs) => [`${atMs} POST /api/v1/namespaces/a/configmaps`, `${atMs} PUT /api/v1/namespaces/a/status`]),
  );
  deepEqual(
    events,
    Array.from({ length: 3 }, () => "FailedCreate: exceeded quota"),
  );
  await stop();
});

for (const refusal of [internalServerError("the answer was lost"), alreadyExistsError({ group: "", resource: "configmaps" }, "wanted")]) {
  test(`controller: after ${refusal.reason} it asks what there is, and waits until it has seen that`, async () => {
    const { clock, streams, requests, stop } = setUp(example, (request, body) => {
      if (request.method === "POST") return refusal;
      return { metadata: { ...(body as Namespace | undefined)?.metadata, resourceVersion: request.method === "GET" ? "10" : "9" } };
    });
    await loopTurn();
    streams.get("namespaces")!.push({ type: "ADDED", object: namespace("a", "1") });
    await clock.advance(1000);
    const asked = ["0 POST /api/v1/namespaces/a/configmaps", "0 PUT /api/v1/namespaces/a/status", "5 GET /api/v1/namespaces/a/configmaps/wanted"];
    deepEqual(requests, asked);
    streams.get("namespaces")!.push({ type: "MODIFIED", object: namespace("a", "9") });
    streams.get("configmaps")!.push({ type: "ADDED", object: { metadata: { name: "wanted", namespace: "a", resourceVersion: "10" } } });
    await clock.advance(1000);
    deepEqual(requests, asked);
    await stop();
  });
}

test("controller: a name that the server makes up cannot be asked for", async () => {
  const lost: Outcome = {
    failure: undefined,
    isStopped: true,
    results: [failed(createAction(resources.configMaps, { metadata: { namespace: "a", generateName: "x-" } }))],
  };
  const writes = new UncertainWrites();
  writes.note("a", lost);
  const client = new Client({ transport: () => Promise.reject(new Error("asked")), clock: new VirtualClock(), userAgent: "test" });
  deepEqual(await writes.ask("a", client, new AbortController().signal), []);
});

const failed = (action: Action): ActionResult => ({ action, status: "failed", error: new Error("lost"), severity: "stop" });

test("controller: one with its own reconcile, background work and requeues", async () => {
  const log: string[] = [];
  const own = defineController({
    name: "own",
    workers: 1,
    watches: [watch(resources.namespaces, { keys: ownKey, delayMs: 100 })],
    async reconcile(key, { carryOut, clock }) {
      log.push(`${clock.monotonicMs()} ${key}`);
      await carryOut(key, { actions: [], requeueAfterMs: 1_000 });
    },
    async start({ queue, signal }) {
      queue.add("from the background");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      log.push("background ended");
    },
  });
  const { clock, streams, stop } = setUp(own, () => ({}));
  await loopTurn();
  streams.get("namespaces")!.push({ type: "ADDED", object: namespace("a", "2") }, { type: "MODIFIED", object: namespace("a", "3") });
  await clock.advance(1_150);
  deepEqual(log, ["0 from the background", "100 a", "1000 from the background", "1100 a"]);
  await stop();
  equal(log.at(-1), "background ended");
});
