/** What is said of waiting pods, when more is to be said than the API takes at once. */
import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { silentLog } from "../../base/log.ts";
import { TaskGroup } from "../../base/task-group.ts";
import { loopTurn } from "../../base/virtual-clock.ts";
import { resources } from "../../client/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { podOf } from "../test-support/cluster.ts";
import { PodWrites } from "./pod-writes.ts";
import type { Transport } from "../../apimachinery/request.ts";
import type { Pod, PodCondition } from "../../api/core-v1/types.ts";

const unscheduled = (message: string): PodCondition => ({ type: "PodScheduled", status: "False", reason: "Unschedulable", message });

test("notes about pods: few are written at once, the newest counts, and none that a binding has made moot", async () => {
  const patched: string[] = [];
  const gate = Promise.withResolvers<void>();
  const wrapTransport =
    (inner: Transport): Transport =>
    async (request) => {
      patched.push(/p\d+/.exec(request.path)![0]);
      await gate.promise;
      return inner(request);
    };
  await using cluster = await TestCluster.start({ wrapTransport });
  await cluster.client.create(resources.serviceAccounts, { metadata: { name: "default", namespace: "default" } });
  const pods: Pod[] = [];
  for (let index = 0; index < 40; index++) {
    const { spec } = podOf("p");
    const pod: Pod = { metadata: { name: `p${index}`, namespace: "default" }, spec: { ...spec, automountServiceAccountToken: false } };
    pods.push((await cluster.client.create(resources.pods, pod)) as Pod);
  }
  await using tasks = new AsyncDisposableStack();
  const group = new TaskGroup();
  tasks.defer(() => group.close());
  const client = cluster.clientFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] });
  const writes = new PodWrites({ client, tasks: group, clock: cluster.clock, log: silentLog, signal: group.signal });
  for (const pod of pods) writes.noteStatus(pod, { condition: unscheduled("first"), nominatedNodeName: "n" });
  await loopTurn();
  equal(patched.length, 32);
  const [bound, noted] = [pods[38]!, pods[39]!];
  writes.noteStatus(noted, { condition: unscheduled("second") });
  let isBound = false;
  await writes.bind(bound.metadata.uid!, async () => {
    isBound = true;
  });
  ok(isBound, "a binding does not wait behind what is said of other pods");
  gate.resolve();
  await group.join();
  deepEqual(patched.toSorted(), pods.flatMap(({ metadata }) => (metadata.name === "p38" ? [] : [metadata.name!])).sort());
  const { status } = await cluster.client.get(resources.pods, "default", "p39");
  deepEqual([status?.conditions?.[0]?.message, status?.nominatedNodeName], ["second", "n"]);
});
