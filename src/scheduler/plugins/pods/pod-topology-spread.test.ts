import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { clusterOf, listerOf, nodeOf, podOf, scoresOf, verdicts } from "../../test-support/cluster.ts";
import type { Pod, TopologySpreadConstraint } from "../../../api/core-v1/types.ts";

const zone = "topology.kubernetes.io/zone";
const missing = "unresolvable: node(s) didn't match pod topology spread constraints (missing required label)";
const uneven = "unschedulable: node(s) didn't match pod topology spread constraints";
const labels = { app: "web" };
const inZone = (name: string, value: string) => nodeOf(name, { labels: { [zone]: value } });
const web = (name: string, metadata: Partial<Pod["metadata"]> = {}) => podOf(name, {}, { labels, ...metadata });
const spread = (constraint: Partial<TopologySpreadConstraint>, spec: Parameters<typeof podOf>[1] = {}, own: Record<string, string> = labels) =>
  podOf(
    "p",
    {
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: labels }, ...constraint }],
      ...spec,
    },
    { labels: own },
  );

const cases: { name: string; cluster: Parameters<typeof clusterOf>[0]; pod: Pod; expect: Record<string, string> }[] = [
  { name: "the fuller zone is refused", cluster: [[inZone("a", "1"), web("x")], inZone("b", "2")], pod: spread({}), expect: { a: uneven, b: "fits" } },
  { name: "a wider skew", cluster: [[inZone("a", "1"), web("x")], inZone("b", "2")], pod: spread({ maxSkew: 2 }), expect: { a: "fits", b: "fits" } },
  {
    name: "a pod that does not count itself",
    cluster: [[inZone("a", "1"), web("x")], inZone("b", "2")],
    pod: spread({}, {}, {}),
    expect: { a: "fits", b: "fits" },
  },
  { name: "a node without the key", cluster: [inZone("a", "1"), nodeOf("b")], pod: spread({}), expect: { a: "fits", b: missing } },
  {
    name: "other namespaces do not count",
    cluster: [[inZone("a", "1"), web("x", { namespace: "other" })], inZone("b", "2")],
    pod: spread({}),
    expect: { a: "fits", b: "fits" },
  },
  {
    name: "pods that leave do not count",
    cluster: [[inZone("a", "1"), web("x", { deletionTimestamp: "2026-01-01T00:00:00Z" })], inZone("b", "2")],
    pod: spread({}),
    expect: { a: "fits", b: "fits" },
  },
  {
    name: "too few domains",
    cluster: [
      [inZone("a", "1"), web("x")],
      [inZone("b", "2"), web("y")],
    ],
    pod: spread({ minDomains: 3 }),
    expect: { a: uneven, b: uneven },
  },
  {
    name: "nodes that the pod does not want are no domains, unless affinity is ignored",
    cluster: [[inZone("a", "1"), web("x")], inZone("b", "2")],
    pod: spread({ nodeAffinityPolicy: "Ignore" }, { nodeSelector: { [zone]: "1" } }),
    expect: { a: uneven, b: "fits" },
  },
  {
    name: "tainted nodes are no domains when taints are honored",
    cluster: [[inZone("a", "1"), web("x")], nodeOf("b", { labels: { [zone]: "2" }, taints: [{ key: "k", effect: "NoSchedule" }] })],
    pod: spread({ nodeTaintsPolicy: "Honor" }),
    expect: { a: "fits", b: "fits" },
  },
];
for (const { name, cluster, pod, expect } of cases) test(`spreading: ${name}`, () => deepEqual(verdicts("PodTopologySpread", clusterOf(cluster), pod), expect));

test("spreading: soft constraints are scored, the emptier domain is best", () => {
  const state = clusterOf([[inZone("a1", "1"), web("x"), web("y")], inZone("a2", "1"), inZone("b1", "2")]);
  deepEqual(scoresOf("PodTopologySpread", state, spread({ whenUnsatisfiable: "ScheduleAnyway" })), { a1: 0, a2: 0, b1: 200 });
});

test("spreading: pods of a Service are spread without being asked to", () => {
  const services = listerOf({ metadata: { name: "web", namespace: "default" }, spec: { selector: labels } });
  const state = clusterOf([[nodeOf("a"), web("x"), web("y"), web("z")], nodeOf("b")], { services });
  deepEqual(scoresOf("PodTopologySpread", state, web("p")), { a: 66, b: 200 });
  deepEqual(scoresOf("PodTopologySpread", state, podOf("stranger")), undefined);
});
