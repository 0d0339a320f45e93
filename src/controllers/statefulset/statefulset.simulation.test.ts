import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isReady, ownedBy, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { StatefulSet } from "../../api/apps-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Simulation, Stage } from "../../testing/simulation/simulate.ts";

const setting = { controllers: ["statefulset-controller"] };

simulate("a StatefulSet starts and replaces pods one by one", setting, (stage) => statefulSet(stage, { policy: "OrderedReady", isDisturbed: false }));
simulate("a StatefulSet has one pod of each identity, whoever deletes them", setting, (stage) => statefulSet(stage, { policy: "Parallel", isDisturbed: true }));

/** Scaled and rolled out; its pods are deleted by others where it `isDisturbed`. */
function statefulSet({ client, random, state }: Stage, { policy, isDisturbed }: { policy: "OrderedReady" | "Parallel"; isDisturbed: boolean }): Simulation {
  let replicas = 3;
  let version = 1;
  const pods = () => state.of<Pod>("Pod").filter((pod) => ownedBy(pod, "web"));
  return {
    arrange() {
      const spec = { replicas, serviceName: "web", podManagementPolicy: policy, selector: { matchLabels: { app: "web" } }, template: podTemplate("a:1") };
      return client.create(resources.statefulSets, { metadata: { namespace: "default", name: "web" }, spec } satisfies StatefulSet);
    },
    async step() {
      const pod = someOf(random, pods());
      const choice = random.integer(isDisturbed ? 3 : 2);
      if (choice === 2 && pod !== undefined) return client.delete(resources.pods, "default", pod.metadata.name ?? "");
      if (choice === 0) version += 1;
      else replicas = random.integer(6);
      return client.patch(resources.statefulSets, "default", "web", { type: "merge", body: { spec: { replicas, template: podTemplate(`a:${version}`) } } });
    },
    check({ kind, object, old }) {
      if (kind !== "Pod") return;
      const identities = pods().map((pod) => pod.metadata.labels?.["apps.kubernetes.io/pod-index"]);
      assert.equal(new Set(identities).size, identities.length, `identities ${identities.join(" ")}`);
      for (const pod of pods()) assert.equal(pod.metadata.name, `web-${ordinal(pod)}`);
      if (isDisturbed) return;
      const changed = (object ?? old) as DeepReadonly<Pod>;
      const others = pods().filter((pod) => pod.metadata.name !== changed.metadata.name);
      const isStarted = old === undefined;
      const isStopped = object?.metadata.deletionTimestamp !== undefined && old?.metadata.deletionTimestamp === undefined;
      if (isStarted || isStopped) for (const pod of others) assert.ok(isReady(pod), `${pod.metadata.name} is not ready`);
      if (isStarted) assert.equal(others.filter((pod) => ordinal(pod) < ordinal(changed)).length, ordinal(changed), "every lower ordinal is there");
    },
    async reached() {
      assert.deepEqual(
        pods()
          .map((pod) => `${pod.metadata.name} ${pod.spec?.containers?.[0]?.image}`)
          .sort(),
        Array.from({ length: replicas }, (_, index) => `web-${index} a:${version}`),
      );
      const { status } = await client.get(resources.statefulSets, "default", "web");
      assert.deepEqual([status?.replicas, status?.readyReplicas ?? 0, status?.updatedReplicas ?? 0], [replicas, replicas, replicas]);
    },
  };
}

function ordinal({ metadata }: DeepReadonly<Pod>): number {
  return Number(metadata.labels?.["apps.kubernetes.io/pod-index"]);
}
