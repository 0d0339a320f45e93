/**
 * Random groups of alike pods on random nodes that come in any order, while nodes come and pods go. At the end no node holds more than it has
 * room for, no gang runs in part, all of a group that wants one topology domain are in one, and no gang waits that would fit: counted from the
 * objects alone.
 */
import { test } from "node:test";
import { equal, ok } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import { resources } from "../../client/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { seedList } from "../../testing/seeds.ts";
import { createScheduler } from "../scheduler.ts";
import { nodeOf, podOf } from "../test-support/cluster.ts";
import type { Random } from "../../base/random.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const gates = { GenericWorkload: true, TopologyAwareWorkloadScheduling: true };
const flags = {
  "feature-gates": Object.keys(gates)
    .map((name) => `${name}=true`)
    .join(),
  "runtime-config": "scheduling.k8s.io/v1beta1=true",
};
const rack = "example.com/rack";

for (const seed of seedList(6)) test(`groups of pods, seed ${seed}`, () => simulate(seed));

interface Group {
  readonly name: string;
  readonly minCount: number;
  readonly cpu: number;
  readonly isInRack: boolean;
}

async function simulate(seed: number): Promise<void> {
  const random = seededRandom(seed);
  await using cluster = await TestCluster.start({
    seed,
    flags,
    components: {
      scheduler: (context) =>
        createScheduler({
          ...context,
          transport: context.transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] }),
          gates,
        }).run(context.signal),
    },
  });
  await cluster.client.create(resources.serviceAccounts, { metadata: { name: "default", namespace: "default" } });
  const nodes = new Map<string, { readonly cpu: number; readonly rack: string }>();
  const groups: Group[] = [];
  for (let step = 0; step < 14; step++) {
    if (step < 3 || random.integer(3) === 0) await addNode(cluster, random, nodes);
    else if (random.integer(5) === 0) await removePod(cluster, random);
    else await addGroup(cluster, random, groups);
    await cluster.advance(random.integer(3000));
  }
  await cluster.settled({ quietMs: 20_000, limitMs: 600_000 });
  check(seed, { nodes, groups, pods: (await cluster.client.list(resources.pods, "default")).items as DeepReadonly<Pod>[] });
}

async function addNode(cluster: TestCluster, random: Random, nodes: Map<string, { readonly cpu: number; readonly rack: string }>): Promise<void> {
  const name = `n${nodes.size}`;
  const node = { cpu: 1 + random.integer(4), rack: `r${random.integer(3)}` };
  const room = { cpu: String(node.cpu), memory: "64Gi", pods: "110" };
  await cluster.client.create(resources.nodes, nodeOf(name, { allocatable: room, capacity: room, labels: { [rack]: node.rack } }));
  await cluster.client.patch(resources.nodes, "", name, { type: "merge", body: { spec: { taints: null } } });
  nodes.set(name, node);
}

/** A group and its pods, the group first or last. */
async function addGroup(cluster: TestCluster, random: Random, groups: Group[]): Promise<void> {
  const count = 1 + random.integer(4);
  const group: Group = {
    name: `g${groups.length}`,
    minCount: random.integer(4) === 0 ? 0 : 1 + random.integer(count),
    cpu: 1 + random.integer(2),
    isInRack: random.integer(2) === 0,
  };
  groups.push(group);
  const create = () =>
    cluster.client.create(resources.podGroups, {
      metadata: { name: group.name, namespace: "default" },
      spec: {
        schedulingPolicy: group.minCount === 0 ? { basic: {} } : { gang: { minCount: group.minCount } },
        ...(group.isInRack && { schedulingConstraints: { topology: [{ key: rack }] } }),
      },
    });
  const isFirst = random.integer(2) === 0;
  if (isFirst) await create();
  for (let index = 0; index < count; index++) {
    const { spec } = podOf("p", { requests: { cpu: String(group.cpu) }, schedulingGroup: { podGroupName: group.name } });
    await cluster.client.create(resources.pods, {
      metadata: { name: `${group.name}-${index}`, namespace: "default" },
      spec: { ...spec, automountServiceAccountToken: false },
    });
    if (random.integer(3) === 0) await cluster.advance(random.integer(500));
  }
  if (!isFirst) await create();
}

/** One that waits: a gang that runs stays whole. */
async function removePod(cluster: TestCluster, random: Random): Promise<void> {
  const waiting = (await cluster.client.list(resources.pods, "default")).items.filter(({ spec }) => ((spec as Pod["spec"])?.nodeName ?? "") === "");
  const pod = waiting[random.integer(Math.max(1, waiting.length))];
  if (pod !== undefined) await cluster.client.delete(resources.pods, "default", pod.metadata.name!, { gracePeriodSeconds: 0 });
}

interface World {
  readonly nodes: ReadonlyMap<string, { readonly cpu: number; readonly rack: string }>;
  readonly groups: readonly Group[];
  readonly pods: readonly DeepReadonly<Pod>[];
}

function check(seed: number, { nodes, groups, pods }: World): void {
  const cpuOf = (pod: DeepReadonly<Pod>) => Number(pod.spec!.containers![0]!.resources!.requests!["cpu"]);
  const free = new Map([...nodes].map(([name, { cpu }]) => [name, cpu]));
  for (const pod of pods) if (pod.spec?.nodeName !== undefined) free.set(pod.spec.nodeName, free.get(pod.spec.nodeName)! - cpuOf(pod));
  for (const [name, cpu] of free) ok(cpu >= 0, `seed ${seed}: ${name} is over its room`);
  for (const { name, minCount, cpu, isInRack } of groups) {
    const members = pods.filter(({ spec }) => spec?.schedulingGroup?.podGroupName === name);
    const homes = members.flatMap(({ spec }) => spec?.nodeName ?? []);
    ok(homes.length === 0 || homes.length >= minCount, `seed ${seed}: ${homes.length} of gang ${name} run, which needs ${minCount}`);
    const racks = new Set(homes.map((node) => nodes.get(node)!.rack));
    if (isInRack) ok(racks.size <= 1, `seed ${seed}: ${name} is in ${[...racks].join()}`);
    const waiting = members.length - homes.length;
    if (waiting === 0 || members.length < minCount) continue;
    const roomIn = (where: (rack: string) => boolean) =>
      [...free].reduce((sum, [node, left]) => (where(nodes.get(node)!.rack) ? sum + Math.floor(left / cpu) : sum), 0);
    const places = !isInRack
      ? [roomIn(() => true)]
      : [...new Set(racks.size > 0 ? racks : [...nodes.values()].map((node) => node.rack))].map((one) => roomIn((other) => other === one));
    const wanted = Math.max(1, minCount - homes.length);
    equal(Math.max(...places) >= wanted, false, `seed ${seed}: ${name} waits for ${wanted} of ${waiting} pods, and there is room for ${Math.max(...places)}`);
  }
}
