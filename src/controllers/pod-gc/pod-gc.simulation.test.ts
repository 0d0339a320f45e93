import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isLive, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";

const threshold = 3;
const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
const setting = { controllers: ["pod-garbage-collector-controller"], flags: { "terminated-pod-gc-threshold": String(threshold) }, steps: 16 };

/** Pods end, and nodes are gone for good: ended pods beyond the threshold go, and pods of nodes that are gone; no other pod goes. */
simulate("pods of nodes that are gone and surplus ended pods go, and no others", setting, ({ cluster, client, random, state }) => {
  const replaced = new Set<string>();
  const pods = () => state.of<Pod>("Pod");
  const nodeNames = () => new Set(state.of<Node>("Node").map(({ metadata }) => metadata.name));
  // Few names, so that a pod comes under one that another had a moment ago.
  const create = async () => {
    const taken = new Set(pods().map(({ metadata }) => metadata.name));
    const name = someOf(
      random,
      names.filter((one) => !taken.has(one)),
    );
    if (name !== undefined) await client.create(resources.pods, { metadata: { namespace: "default", name }, spec: podTemplate("a:1", "Never").spec! });
  };
  /** By others, who put a new one in its place. */
  const replace = async ({ metadata: { name = "", uid = "" } }: DeepReadonly<Pod>) => {
    replaced.add(uid);
    await client.delete(resources.pods, "default", name, { gracePeriodSeconds: 0 });
    await client.create(resources.pods, { metadata: { namespace: "default", name }, spec: podTemplate("a:1", "Never").spec! });
  };
  return {
    async arrange() {
      for (let count = 0; count < 6; count++) await create();
    },
    async step() {
      const pod = someOf(random, pods().filter(isLive));
      const going = pods().filter(({ spec }) => spec?.nodeName !== undefined && !nodeNames().has(spec.nodeName));
      const choice = random.integer(8);
      if (choice >= 6) for (const one of going) await replace(one);
      else if (choice === 0) await client.delete(resources.nodes, "", someOf(random, ["n1", "n2"])!);
      else if (choice <= 2 || pod === undefined) await create();
      else
        await client.patch(resources.pods, "default", pod.metadata.name ?? "", {
          type: "merge",
          subresource: "status",
          body: { status: { phase: "Succeeded" } },
        });
    },
    check({ kind, object, old }) {
      if (
        kind !== "Pod" ||
        old === undefined ||
        replaced.has(old.metadata.uid ?? "") ||
        !(object === undefined || (object.metadata.deletionTimestamp !== undefined && isLive(old as Pod)))
      )
        return;
      const { spec, metadata } = old as Pod;
      if (metadata.deletionTimestamp !== undefined || !isLive(old as Pod)) return;
      assert.ok(spec?.nodeName !== undefined && !nodeNames().has(spec.nodeName), `${metadata.name} is on a node that is gone`);
    },
    // Whether a node stays away is looked at from time to time.
    settle: () => cluster.advance(400_000),
    async reached() {
      for (const { spec } of pods()) assert.ok(spec?.nodeName === undefined || nodeNames().has(spec.nodeName));
      assert.ok(pods().filter((pod) => !isLive(pod)).length <= threshold);
    },
  };
});
