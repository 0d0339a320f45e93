import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod, Toleration } from "../../api/core-v1/types.ts";

const nodes = ["n1", "n2", "n3"];
const isTainted = (name: string | undefined, all: readonly DeepReadonly<Node>[]) =>
  all.some(({ metadata, spec }) => metadata.name === name && (spec?.taints ?? []).some(({ key }) => key === "away"));

/** Nodes are tainted for a time or for good: pods that do not tolerate it go, those that do for a while go then, and no others. */
simulate(
  "pods leave nodes whose taints they do not tolerate, and no others",
  { controllers: ["taint-eviction-controller"], nodes, steps: 14 },
  ({ client, random, state }) => {
    let born = 0;
    const pods = () => state.of<Pod>("Pod");
    const tolerations: readonly (readonly Toleration[])[] = [
      [],
      [{ key: "away", operator: "Exists" }],
      [{ key: "away", operator: "Exists", effect: "NoExecute", tolerationSeconds: 20 }],
    ];
    const create = (node: string) =>
      client.create(resources.pods, {
        metadata: { namespace: "default", name: `p${++born}` },
        spec: { ...podTemplate("a:1").spec!, nodeName: node, tolerations: [...someOf(random, tolerations)!] },
      });
    /** By others, who put one in its place that tolerates the taint. */
    const replace = async ({ metadata: { name = "", uid = "" }, spec }: DeepReadonly<Pod>) => {
      replaced.add(uid);
      await client.delete(resources.pods, "default", name, { gracePeriodSeconds: 0 });
      const tolerant = { ...podTemplate("a:1").spec!, nodeName: spec?.nodeName ?? "", tolerations: [...tolerations[1]!] };
      await client.create(resources.pods, { metadata: { namespace: "default", name }, spec: tolerant });
    };
    const mustStay = ({ spec }: DeepReadonly<Pod>) =>
      (spec?.tolerations ?? []).some(({ key, tolerationSeconds }) => key === "away" && tolerationSeconds === undefined);
    const wereTainted = new Set<string>();
    const replaced = new Set<string>();
    return {
      async arrange() {
        for (const node of nodes) for (let count = 0; count < 2; count++) await create(node);
      },
      async step() {
        const node = someOf(random, nodes)!;
        if (random.integer(3) === 0) return create(node);
        const taints = isTainted(node, state.of<Node>("Node")) ? null : [{ key: "away", effect: "NoExecute" }];
        if (taints !== null) wereTainted.add(node);
        const going = pods().find((pod) => pod.spec?.nodeName === node && !mustStay(pod));
        await client.patch(resources.nodes, "", node, { type: "merge", body: { spec: { taints } } });
        if (taints !== null && going !== undefined && random.integer(2) === 0) await replace(going);
      },
      check({ kind, object, old }) {
        if (kind !== "Pod" || old === undefined || old.metadata.deletionTimestamp !== undefined) return;
        if (object !== undefined && object.metadata.deletionTimestamp === undefined) return;
        const pod = old as Pod;
        if (replaced.has(pod.metadata.uid ?? "")) return;
        assert.ok(!mustStay(pod), `${pod.metadata.name} tolerates the taint`);
        assert.ok(wereTainted.has(pod.spec?.nodeName ?? ""), `the node of ${pod.metadata.name} was tainted`);
      },
      async reached() {
        for (const pod of pods()) assert.ok(mustStay(pod) || !isTainted(pod.spec?.nodeName, state.of<Node>("Node")), `${pod.metadata.name} has left`);
      },
    };
  },
);
