import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { clusterOf, nodeOf, podOf, profileOf } from "../test-support/cluster.ts";
import { podInfoOf } from "../state/pod-info.ts";
import { checkExtenders } from "./configuration.ts";
import { Extender } from "./extender.ts";
import { scheduleWithExtenders } from "./schedule-with-extenders.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Decision } from "../framework/decision.ts";
import type { ClusterState } from "../state/cluster-state.ts";
import type { ExtenderConfiguration } from "./configuration.ts";
import type { ExtenderPost } from "./extender.ts";

/** By verb: what the extender answers to a message, or with which status. */
type Answers = Record<string, (message: Record<string, unknown>) => object | number>;

const asked: string[] = [];
const answering =
  (answers: Answers): ExtenderPost =>
  ({ url, body }) => {
    const verb = url.slice(url.lastIndexOf("/") + 1);
    asked.push(url);
    const answer = answers[verb]!(JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>);
    return Promise.resolve(
      typeof answer === "number" ? { status: answer, body: new Uint8Array() } : { status: 200, body: Buffer.from(JSON.stringify(answer)) },
    );
  };

async function decideWith(state: ClusterState, pod: Pod, extenders: readonly (readonly [ExtenderConfiguration, Answers])[]): Promise<Decision> {
  asked.length = 0;
  const made = extenders.map(
    ([configuration, answers]) => new Extender({ urlPrefix: "http://x/", ...configuration }, { post: answering(answers), clock: new VirtualClock() }),
  );
  const info = podInfoOf(pod);
  const configuration = { extenders: extenders.map(([one]) => one) };
  const request = { snapshot: state, pod: info, profile: profileOf(state, configuration), random: seededRandom(1), startIndex: 0 };
  const context = { extenders: made.filter((one) => one.isInterested(info)), log: silentLog, signal: new AbortController().signal };
  return (await scheduleWithExtenders(request, context)).decision;
}

const shown = (decision: Decision) => (decision.kind === "assigned" ? decision.node.name : `${decision.kind}: ${decision.message}`);
const abc = () => clusterOf([nodeOf("a"), nodeOf("b"), nodeOf("c")]);
const byName = { filterVerb: "filter", nodeCacheCapable: true };
const refuseAll: Answers = { filter: () => ({ NodeNames: [], FailedNodes: { a: "no", b: "no" }, FailedAndUnresolvableNodes: { c: "never" } }) };

const cases: { name: string; extenders: (readonly [ExtenderConfiguration, Answers])[]; pod?: Pod; state?: ClusterState; expect: string; urls?: string[] }[] = [
  {
    name: "one that keeps a node cache filters by name, in any case of letters",
    extenders: [[byName, { filter: (message) => ({ nodenames: (message.NodeNames as string[]).filter((name) => name === "b") }) }]],
    expect: "b",
    urls: ["http://x/filter"],
  },
  {
    name: "others get the nodes whole, and each sees what the one before it left",
    extenders: [
      [{ filterVerb: "f" }, { f: ({ Nodes }) => ({ Nodes: { items: (Nodes as { items: object[] }).items.slice(1) } }) }],
      [byName, { filter: ({ NodeNames }) => ({ NodeNames: [(NodeNames as string[])[1]] }) }],
    ],
    expect: "c",
  },
  {
    name: "refusals count with the plugins'",
    extenders: [[byName, refuseAll]],
    expect:
      "unschedulable: 0/3 nodes are available: 1 never, 2 no. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.",
  },
  {
    name: "an error ends the attempt",
    extenders: [[byName, { filter: () => 500 }]],
    expect: "failed: failed filter with extender at URL http://x/filter, code 500",
  },
  { name: "an error in the answer too", extenders: [[byName, { filter: () => ({ Error: "out of luck" }) }]], expect: "failed: out of luck" },
  {
    name: "a node that it was not asked about",
    extenders: [[byName, { filter: () => ({ NodeNames: ["z"] }) }]],
    expect: 'failed: extender "http://x/" claims a filtered node "z" which is not found in the input node list',
  },
  {
    name: "one that may be ignored is",
    extenders: [
      [{ ...byName, ignorable: true }, { filter: () => 500 }],
      [byName, { filter: () => ({ NodeNames: ["c"] }) }],
    ],
    expect: "c",
  },
  {
    name: "points decide, by weight",
    extenders: [
      [{ prioritizeVerb: "p", weight: 1 }, { p: () => [{ Host: "a", Score: 10 }] }],
      [{ prioritizeVerb: "p", weight: 3 }, { p: () => [{ host: "b", score: 4 }] }],
    ],
    expect: "b",
  },
  {
    name: "one that fails to give points gives none",
    extenders: [
      [{ prioritizeVerb: "p", weight: 9 }, { p: () => 503 }],
      [{ prioritizeVerb: "p", weight: 1 }, { p: () => [{ Host: "c", Score: 1 }] }],
    ],
    expect: "c",
  },
  {
    name: "one that manages resources is asked about pods that want them",
    extenders: [[{ ...byName, managedResources: [{ name: "example.com/foo", ignoredByScheduler: true }] }, { filter: () => ({ NodeNames: ["b"] }) }]],
    pod: podOf("p", { requests: { "example.com/foo": "1" } }),
    expect: "b",
  },
  {
    name: "and about no others",
    extenders: [[{ ...byName, managedResources: [{ name: "example.com/foo" }] }, refuseAll]],
    state: clusterOf([nodeOf("a")]),
    expect: "a",
    urls: [],
  },
];
for (const { name, extenders, pod = podOf("p"), state = abc(), expect, urls } of cases)
  test(`extenders: ${name}`, async () => {
    equal(shown(await decideWith(state, pod, extenders)), expect);
    if (urls !== undefined) deepEqual(asked, urls);
  });

test("extenders: refusals are reconsidered on any event", async () => {
  const decision = await decideWith(abc(), podOf("p"), [[byName, refuseAll]]);
  deepEqual(decision.kind === "unschedulable" && [...decision.rejectors], ["Extender"]);
});

test("extenders: they choose among the nodes that preemption would free, and whom it costs", async () => {
  const low = (name: string) => podOf(name, { priority: 1, requests: { cpu: "4" } });
  const state = clusterOf([
    [nodeOf("a"), low("x")],
    [nodeOf("b"), low("y")],
  ]);
  const pod = podOf("p", { priority: 10, requests: { cpu: "2" } });
  const preempt: Answers = {
    preempt: ({ NodeNameToMetaVictims: nodes }) => ({ NodeNameToMetaVictims: { b: (nodes as Record<string, object>).b } }),
  };
  const decision = await decideWith(state, pod, [[{ preemptVerb: "preempt", nodeCacheCapable: true }, preempt]]);
  const postFilter = decision.kind === "unschedulable" ? decision.postFilter : undefined;
  deepEqual([postFilter?.nominatedNodeName, postFilter?.victims?.map(({ name }) => name)], ["b", ["y"]]);
  const none = await decideWith(state, pod, [[{ preemptVerb: "preempt" }, { preempt: () => ({ NodeNameToMetaVictims: {} }) }]]);
  equal(none.kind === "unschedulable" && none.postFilter?.nominatedNodeName, "");
});

test("extenders: configurations that cannot be used are refused", () => {
  throws(() => checkExtenders([{ urlPrefix: "foo" }]), { message: 'extenders[0].urlPrefix: Invalid value: "foo": must be an http(s) URL' });
  throws(() => checkExtenders([{ urlPrefix: "http://x", prioritizeVerb: "p" }]), /must have a positive weight/);
  throws(() => checkExtenders([1, 2].map(() => ({ urlPrefix: "http://x", bindVerb: "b" }))), /only one extender can implement bind/);
  throws(() => checkExtenders([{ urlPrefix: "http://x", httpTimeout: "soon" }]), { reason: "BadConfiguration" });
});
