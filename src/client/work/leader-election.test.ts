import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { conflictError, notFoundError } from "../../apimachinery/status.ts";
import { Client } from "../client.ts";
import { LeadershipLostError, planElection, runLeading } from "./leader-election.ts";
import { loopbackTransport } from "../transports/loopback-transport.ts";
import { microTime } from "../events/series-event-recorder.ts";
import type { Clock } from "../../base/clock.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { Lease } from "../../api/coordination-v1/types.ts";

const now = Date.UTC(2026, 0, 1);
const lease = (holderIdentity: string, leaseTransitions = 3): Lease => ({
  metadata: { name: "x" },
  spec: { holderIdentity, leaseDurationSeconds: 15, acquireTime: "then", leaseTransitions },
});
const mine = { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: microTime(now) };

const cases: [name: string, lease: Lease | undefined, unchangedMs: number, expect: unknown][] = [
  ["no lease", undefined, 0, { kind: "create", spec: { ...mine, acquireTime: microTime(now), leaseTransitions: 0 } }],
  ["our own is renewed", lease("me"), 60_000, { kind: "update", spec: { ...mine, acquireTime: "then", leaseTransitions: 3 } }],
  ["another's", lease("other"), 14_999, { kind: "wait", holder: "other" }],
  ["another's that ran out", lease("other"), 15_000, { kind: "update", spec: { ...mine, acquireTime: microTime(now), leaseTransitions: 4 } }],
  ["a released one", lease(""), 0, { kind: "update", spec: { ...mine, acquireTime: microTime(now), leaseTransitions: 4 } }],
];
for (const [name, current, unchangedMs, expect] of cases) {
  test(`election: ${name}`, () => deepEqual(planElection(current, { identity: "me", leaseMs: 15_000 }, now, unchangedMs), expect));
}

/** The least server that can hold one lease: it checks versions, and can be cut off. */
function leaseServer() {
  let current: Lease | undefined;
  let version = 0;
  const state = { isCutOff: false, current: () => current };
  const answer = (status: number, body: unknown) => bytesResponse(status, "application/json", JSON.stringify(body));
  const name = { group: "coordination.k8s.io", resource: "leases" };
  const handler = async (request: ApiRequest): Promise<ApiResponse> => {
    if (state.isCutOff) throw new Error("connection refused");
    if (request.method === "GET") return current === undefined ? answer(404, notFoundError(name, "x").status) : answer(200, current);
    const sent = JSON.parse(Buffer.from(request.body).toString()) as Lease;
    if (current !== undefined && sent.metadata.resourceVersion !== current.metadata.resourceVersion)
      return answer(409, conflictError(name, "x", "changed").status);
    current = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(++version) } };
    return answer(200, current);
  };
  return { handler, state };
}

function candidate(identity: string, handler: (request: ApiRequest) => Promise<ApiResponse>, clock: Clock, log: string[]) {
  const stopper = new AbortController();
  const client = new Client({ transport: loopbackTransport(handler, { username: identity, groups: [] }), clock, userAgent: identity });
  const lead = async (signal: AbortSignal) => {
    log.push(`${identity} leads`);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    log.push(`${identity} stops`);
  };
  const running = runLeading({ client, clock, random: seededRandom(1), log: silentLog, namespace: "kube-system", name: "x", identity }, lead, stopper.signal);
  return { running, stopper };
}

test("election: one leads, the other follows as soon as the first has left", async () => {
  const clock = new VirtualClock();
  const { handler, state } = leaseServer();
  const log: string[] = [];
  const a = candidate("a", handler, clock, log);
  await clock.advance(0);
  const b = candidate("b", handler, clock, log);
  await clock.advance(60_000);
  deepEqual(log, ["a leads"]);
  a.stopper.abort();
  await a.running;
  equal(state.current()!.spec!.holderIdentity, "");
  await clock.advance(5_000);
  deepEqual(log, ["a leads", "a stops", "b leads"]);
  b.stopper.abort();
  await b.running;
  equal(clock.nextDueMs(), undefined);
});

test("election: a jump of the candidate's time of day does not end another's lease", async () => {
  const clock = new VirtualClock();
  const { handler } = leaseServer();
  const log: string[] = [];
  const a = candidate("a", handler, clock, log);
  await clock.advance(0);
  let jumpMs = 0;
  const jumping: Clock = { nowMs: () => clock.nowMs() + jumpMs, monotonicMs: () => clock.monotonicMs(), after: (...args) => clock.after(...args) };
  const b = candidate("b", handler, jumping, log);
  await clock.advance(1_000);
  for (jumpMs of [3_600_000, -3_600_000]) {
    await clock.advance(60_000);
    deepEqual(log, ["a leads"]);
  }
  for (const { stopper } of [b, a]) stopper.abort();
  await a.running;
  await rejects(b.running, { name: "AbortError" });
});

test("election: a leader that cannot renew stops before another may lead", async () => {
  const clock = new VirtualClock();
  const { handler, state } = leaseServer();
  const log: string[] = [];
  const a = candidate("a", handler, clock, log);
  const lost = rejects(a.running, LeadershipLostError);
  await clock.advance(5_000);
  state.isCutOff = true;
  await clock.advance(8_000);
  deepEqual(log, ["a leads"]);
  await clock.advance(4_000);
  deepEqual(log, ["a leads", "a stops"]);
  await lost;
});
