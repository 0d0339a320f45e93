import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { ignoreRace, simulate } from "../../testing/simulation/simulate.ts";
import { groupOfPod } from "./controller.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";

const isProtected = (object: DeepReadonly<KubeObject> | undefined) => (object?.metadata.finalizers ?? []).includes("scheduling.k8s.io/podgroup-protection");

/** Groups are deleted while pods name them or do not, and pods end or go: no group goes before its last pod has ended, none stays after that. */
simulate(
  "a group of pods goes when its last pod has ended",
  {
    controllers: ["podgroup-protection-controller"],
    flags: { "feature-gates": "GenericWorkload=true" },
    apiServerFlags: { "feature-gates": "GenericWorkload=true", "runtime-config": "scheduling.k8s.io/v1beta1=true" },
    steps: 16,
  },
  ({ cluster, client, random, state }) => {
    let born = 0;
    const replaced = new Set<string>();
    const pods = () => state.of<Pod>("Pod");
    const groups = () => state.of<PodGroup>("PodGroup");
    const hasEnded = ({ status }: Pod) => status?.phase === "Succeeded" || status?.phase === "Failed";
    const isUsed = (name: string | undefined) => pods().some((pod) => groupOfPod(pod as Pod).includes(`default/${name}`) && !hasEnded(pod as Pod));
    const createGroup = async (name = `g${++born}`) => {
      await client.create(resources.podGroups, { metadata: { namespace: "default", name }, spec: { schedulingPolicy: { gang: { minCount: 1 } } } });
    };
    /** By others, who take the protection off and put a new one in its place. */
    const replace = async (name: string) => {
      replaced.add(name);
      await client.delete(resources.podGroups, "default", name);
      await cluster.advance(random.integer(3000));
      await client.patch(resources.podGroups, "default", name, { type: "merge", body: { metadata: { finalizers: null } } }).catch(ignoreRace);
      await createGroup(name);
      replaced.delete(name);
    };
    return {
      arrange: () => createGroup(),
      async step() {
        const group = someOf(random, groups())?.metadata.name;
        const pod = someOf(random, pods())?.metadata.name;
        const choice = random.integer(7);
        if (choice <= 1 && group !== undefined) {
          const spec = { ...podTemplate("a:1", "Never").spec!, schedulingGroup: { podGroupName: group } };
          return client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born}` }, spec });
        }
        if (choice === 2 && group !== undefined) return client.delete(resources.podGroups, "default", group);
        if (choice === 3 && pod !== undefined) return client.delete(resources.pods, "default", pod);
        if (choice === 4 && pod !== undefined)
          return client.patch(resources.pods, "default", pod, { type: "merge", subresource: "status", body: { status: { phase: "Succeeded" } } });
        if (choice === 6 && group !== undefined) return replace(group);
        return createGroup();
      },
      check({ kind, object, old }) {
        if (kind !== "PodGroup" || replaced.has(old?.metadata.name ?? "")) return;
        if (object === undefined) assert.ok(!isUsed(old?.metadata.name), `${old?.metadata.name} is not used`);
        else if (object.metadata.deletionTimestamp === undefined) assert.ok(isProtected(object) || !isProtected(old), "protection stays until it is deleted");
      },
      async settle() {
        await cluster.settled({ quietMs: 90_000, limitMs: 3_600_000 });
        for (const { metadata } of groups()) await client.delete(resources.podGroups, "default", metadata.name ?? "");
        await cluster.settled({ quietMs: 90_000, limitMs: 3_600_000 });
      },
      async reached() {
        for (const { metadata } of groups()) {
          assert.ok(metadata.deletionTimestamp === undefined || isUsed(metadata.name), `${metadata.name} is wanted`);
          assert.deepEqual(metadata.finalizers, ["scheduling.k8s.io/podgroup-protection"]);
        }
      },
    };
  },
);
