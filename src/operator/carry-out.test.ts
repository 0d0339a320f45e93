import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { VirtualClock } from "../base/virtual-clock.ts";
import { StatusError } from "../apimachinery/status.ts";
import { Client, loopbackTransport, resources } from "../client/index.ts";
import { scriptedHandler } from "../testing/scripted-handler.ts";
import { carryOut, confirmAction, createAction, deleteAction, eventAction, patchAction } from "./index.ts";
import type { ScriptedAnswer } from "../testing/scripted-handler.ts";
import type { Action, ErrorRule, Plan } from "./index.ts";

const refusal = new StatusError({ reason: "Forbidden", code: 403, message: "no" });
const made: ScriptedAnswer = { kind: "Pod", metadata: { name: "made", uid: "u" } };
const create = (name: string, onError: ErrorRule = "stop"): Action => createAction(resources.pods, { metadata: { namespace: "a", name } }, { onError });
const event = (message: string): Action => eventAction({}, { type: "Normal", reason: "Test", message });
const target = { metadata: { namespace: "a", name: "web", uid: "u" } };

const cases: {
  name: string;
  plan: Plan;
  answers: ScriptedAnswer[];
  requests: number;
  events?: string[];
  statuses: string[];
  failure?: string;
  requeueAfterMs?: number;
}[] = [
  {
    name: "in order",
    plan: { actions: [create("x"), event("between"), create("y")] },
    answers: [made, made],
    requests: 2,
    events: ["between"],
    statuses: ["done", "done", "done"],
  },
  {
    name: "a failure stops",
    plan: { actions: [create("x"), event("after")], next: () => ({ actions: [event("next")] }) },
    answers: [refusal],
    requests: 1,
    statuses: ["failed", "skipped"],
    failure: "no",
  },
  {
    name: "a failure to go on from",
    plan: { actions: [create("x", "continue"), create("y")] },
    answers: [refusal, made],
    requests: 2,
    statuses: ["failed", "done"],
    failure: "no",
  },
  { name: "a failure to ignore", plan: { actions: [create("x", "ignore"), create("y")] }, answers: [refusal, made], requests: 2, statuses: ["failed", "done"] },
  {
    name: "a failure that is told before the plan stops",
    plan: { actions: [create("x", (error) => ({ severity: "stop", actions: [event(`failed: ${error.message}`)] })), create("y")] },
    answers: [refusal],
    requests: 1,
    events: ["failed: no"],
    statuses: ["failed", "done", "skipped"],
    failure: "no",
  },
  {
    name: "a second part that knows the first",
    plan: {
      actions: [create("x", "continue")],
      requeueAfterMs: 50,
      next: ({ failure }) => ({ actions: [event(`knows ${failure?.message}`)], requeueAfterMs: 20 }),
    },
    answers: [refusal],
    requests: 1,
    events: ["knows no"],
    statuses: ["failed", "done"],
    failure: "no",
    requeueAfterMs: 20,
  },
  {
    name: "what follows a success",
    plan: { actions: [createAction(resources.pods, target, { onDone: (pod) => [event(`made ${pod.metadata.name}`)] })] },
    answers: [made],
    requests: 1,
    events: ["made made"],
    statuses: ["done", "done"],
  },
  {
    name: "a slow start that goes well",
    plan: { actions: [{ kind: "group", mode: "slowStart", actions: ["1", "2", "3", "4", "5"].map((name) => create(name)) }] },
    answers: [made, made, made, made, made],
    requests: 5,
    statuses: ["done", "done", "done", "done", "done"],
  },
  {
    name: "a slow start skips the rest after a failure in a batch",
    plan: { actions: [{ kind: "group", mode: "slowStart", actions: ["1", "2", "3", "4", "5"].map((name) => create(name, "continue")) }, event("after")] },
    answers: [made, refusal, made],
    requests: 3,
    events: ["after"],
    statuses: ["done", "failed", "done", "skipped", "skipped", "done"],
    failure: "no",
  },
  {
    name: "a refusal that tells of the rest ends the group, not the plan",
    plan: { actions: [{ kind: "group", mode: "slowStart", actions: ["1", "2", "3", "4"].map((name) => create(name, "leave")) }, event("after")] },
    answers: [made, refusal, made],
    requests: 3,
    events: ["after"],
    statuses: ["done", "failed", "done", "skipped", "done"],
  },
  {
    name: "all at once, whatever fails",
    plan: { actions: [{ kind: "group", mode: "parallel", actions: [create("x", "continue"), create("y"), create("z")] }] },
    answers: [refusal, made, made],
    requests: 3,
    statuses: ["failed", "done", "done"],
    failure: "no",
  },
  {
    name: "confirmed",
    plan: { actions: [confirmAction(resources.pods, target), event("after")] },
    answers: [made],
    requests: 1,
    events: ["after"],
    statuses: ["done", "done"],
  },
  {
    name: "not confirmed: another one",
    plan: { actions: [confirmAction(resources.pods, { metadata: { ...target.metadata, uid: "old" } }), event("after")] },
    answers: [made],
    requests: 1,
    statuses: ["skipped", "skipped"],
  },
  {
    name: "not confirmed: gone",
    plan: { actions: [confirmAction(resources.pods, target), event("after")] },
    answers: [new StatusError({ reason: "NotFound", code: 404 })],
    requests: 1,
    statuses: ["skipped", "skipped"],
  },
];

function start(answers: ScriptedAnswer[]) {
  const { handler, requests, bodies } = scriptedHandler(answers);
  const client = new Client({ transport: loopbackTransport(handler, { username: "test", groups: [] }), clock: new VirtualClock(), userAgent: "test" });
  const events: string[] = [];
  return {
    requests,
    bodies,
    events,
    driver: { client, signal: new AbortController().signal, events: { record: (_: object, text: { message: string }) => events.push(text.message) } },
  };
}

for (const { name, plan, answers, requests: expected, events: told = [], statuses, failure, requeueAfterMs } of cases) {
  test(`carry out: ${name}`, async () => {
    const { requests, events, driver } = start(answers);
    const outcome = await carryOut(plan, driver);
    deepEqual(
      [requests.length, events, outcome.results.map(({ status }) => status), outcome.failure?.message, outcome.requeueAfterMs],
      [expected, told, statuses, failure, requeueAfterMs],
    );
  });
}

test("carry out: what patches and deletions look like on the wire", async () => {
  const { requests, bodies, driver } = start([made, made]);
  await carryOut(
    {
      actions: [
        patchAction(resources.pods, target, { type: "merge", body: { a: 1 } }, { subresource: "status" }),
        deleteAction(resources.pods, target, { propagationPolicy: "Background" }),
      ],
    },
    driver,
  );
  deepEqual(requests, ["PATCH /api/v1/namespaces/a/pods/web/status", "DELETE /api/v1/namespaces/a/pods/web"]);
  deepEqual(bodies, [{ a: 1 }, { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "u" }, propagationPolicy: "Background" }]);
});
