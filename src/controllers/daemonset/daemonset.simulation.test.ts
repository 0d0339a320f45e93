import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isLive, ownedBy, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { targetNode } from "./daemon-pod.ts";
import type { DaemonSet } from "../../api/apps-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const nodes = ["n1", "n2", "n3", "n4"];

/** Nodes come to match and cease to, pods are deleted, templates change: in the end one pod on each node that matches; never two on one. */
simulate("a DaemonSet has one pod on each matching node", { controllers: ["daemonset-controller"], nodes }, ({ client, random, state, unknownCreates }) => {
  const matching = new Set<string>();
  let version = 1;
  const pods = () => state.of<Pod>("Pod").filter((pod) => ownedBy(pod, "agent") && isLive(pod));
  const template = () => ({
    metadata: { labels: { app: "web" } },
    spec: { ...podTemplate(`a:${version}`).spec!, nodeSelector: { disk: "fast" }, tolerations: [{ operator: "Exists" }] },
  });
  return {
    arrange: () =>
      client.create(resources.daemonSets, {
        metadata: { namespace: "default", name: "agent" },
        spec: { selector: { matchLabels: { app: "web" } }, template: template() },
      } satisfies DaemonSet),
    async step() {
      const node = someOf(random, nodes)!;
      const pod = someOf(random, pods());
      const choice = random.integer(5);
      if (choice === 0 && pod !== undefined) await client.delete(resources.pods, "default", pod.metadata.name ?? "");
      else if (choice === 1) {
        version += 1;
        await client.patch(resources.daemonSets, "default", "agent", { type: "merge", body: { spec: { template: template() } } });
      } else {
        if (!matching.delete(node)) matching.add(node);
        await client.patch(resources.nodes, "", node, { type: "merge", body: { metadata: { labels: { disk: matching.has(node) ? "fast" : null } } } });
      }
    },
    check({ kind, old }) {
      if (kind !== "Pod" || old !== undefined) return;
      const onNodes = pods().map(targetNode);
      const surplus = onNodes.length - new Set(onNodes).size;
      assert.ok(surplus <= unknownCreates(), `pods on ${onNodes.join(" ")}`);
    },
    async reached() {
      assert.deepEqual(
        pods()
          .map((pod) => `${pod.spec?.nodeName} ${pod.spec?.containers?.[0]?.image}`)
          .sort(),
        [...matching].sort().map((node) => `${node} a:${version}`),
      );
      const { status } = await client.get(resources.daemonSets, "default", "agent");
      assert.deepEqual(
        [status?.desiredNumberScheduled, status?.numberReady, status?.updatedNumberScheduled ?? 0, status?.numberMisscheduled],
        [matching.size, matching.size, matching.size, 0],
      );
    },
  };
});
