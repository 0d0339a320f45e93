/**
 * Random clusters against a naive scorer that works everything out from the objects: the chosen node is always one of the best, with the very
 * total, and no pod is refused while a node fits. Nodes and pods come, go and change in between, so that counters and memories are put to the test.
 */
import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { seededRandom } from "../base/random.ts";
import { builtInPlugins } from "./config/plugin-registry.ts";
import { buildProfiles } from "./config/build-profiles.ts";
import { schedulePod } from "./framework/schedule-pod.ts";
import { VerdictCache } from "./framework/verdict-cache.ts";
import { podInfoOf } from "./state/pod-info.ts";
import { clusterOf, listerOf, servicesOf } from "./test-support/cluster.ts";
import { Generator } from "./test-support/oracle/generate.ts";
import { isFeasible } from "./test-support/oracle/feasible.ts";
import { totals } from "./test-support/oracle/score.ts";
import { nameOf } from "./test-support/oracle/world.ts";
import type { Random } from "../base/random.ts";
import type { Node, Pod } from "../api/core-v1/types.ts";
import type { Decision } from "./framework/decision.ts";
import type { Placed, World } from "./test-support/oracle/world.ts";

const seeds = Number(process.env["CORACLE_SEEDS"] ?? 12);
const decisions = 40;

for (let seed = 1; seed <= seeds; seed++) test(`scheduler: decisions agree with the oracle, seed ${seed}`, () => new Trial(seed).run());

class Trial {
  readonly #random: Random;
  readonly #generator: Generator;
  readonly #nodes: Node[];
  readonly #pods: Placed[] = [];
  readonly #world: World;
  readonly #state: ReturnType<typeof clusterOf>;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#generator = new Generator(this.#random);
    this.#nodes = Array.from({ length: 1 + this.#random.integer(seed % 10 === 0 ? 200 : 25) }, () => this.#generator.node());
    const pairs = Array.from({ length: 4 }, () => this.#generator.volume());
    const [volumes, claims] = [pairs.map(({ volume }) => volume), pairs.map(({ claim }) => claim)];
    const services = [{ metadata: { name: "a", namespace: "default" }, spec: { selector: { app: "a" } } }];
    const namespaces = listerOf(...["default", "other"].map((name) => ({ metadata: { name } })));
    const objects = { namespaces, services: listerOf(...services), persistentVolumes: listerOf(...volumes), persistentVolumeClaims: listerOf(...claims) };
    this.#world = { nodes: this.#nodes, pods: this.#pods, services, claims, volumes };
    this.#state = clusterOf(this.#nodes, objects);
  }

  run(): void {
    const services = servicesOf(this.#state);
    const profile = buildProfiles({ percentageOfNodesToScore: 100 }, builtInPlugins, services).get("default-scheduler")!;
    const cache = new VerdictCache();
    const templates = Array.from({ length: 6 }, () => this.#generator.pod(this.#world.claims));
    for (let count = 0; count < decisions; count++) {
      this.#change();
      const pod = this.#generator.chance(2) ? this.#generator.pod(this.#world.claims) : copyOf(this.#generator.pick(templates), `copy-${count}`);
      const request = { snapshot: this.#state, pod: podInfoOf(pod), profile, random: this.#random, startIndex: count, cache };
      const { decision } = schedulePod(request);
      this.#check(pod, decision);
      if (decision.kind !== "assigned") continue;
      this.#state.assume(decision.pod, decision.node.name);
      this.#pods.push({ pod, nodeName: decision.node.name });
    }
  }

  #check(pod: Pod, decision: Decision): void {
    const feasible = this.#nodes.filter((node) => isFeasible(pod, node, this.#world));
    const what = JSON.stringify(pod);
    if (feasible.length === 0) return equal(decision.kind, "unschedulable", what);
    ok(decision.kind === "assigned", `${what}: fits ${nameOf(feasible[0]!)}, but ${decision.kind === "assigned" ? "" : decision.message}`);
    const scores = totals(pod, feasible, this.#world);
    const byName = new Map(feasible.map((node, index) => [nameOf(node), scores[index]!]));
    equal(byName.get(decision.node.name), Math.max(...scores), `${what} on ${decision.node.name}`);
    const { nodes, totals: own } = decision.scores;
    if (feasible.length > 1)
      deepEqual(Object.fromEntries(nodes.map(({ name }, index) => [name, own[index]]).toSorted()), Object.fromEntries([...byName].toSorted()), what);
  }

  /** Something else happens, or not. */
  #change(): void {
    switch (this.#random.integer(8)) {
      case 0:
        return this.#removePod();
      case 1: {
        const index = this.#random.integer(this.#nodes.length);
        this.#nodes[index] = this.#generator.node(nameOf(this.#nodes[index]!));
        return this.#state.putNode(this.#nodes[index]);
      }
      case 2:
        this.#nodes.push(this.#generator.node());
        return this.#state.putNode(this.#nodes.at(-1)!);
      case 3: {
        if (this.#nodes.length < 3) return;
        const [node] = this.#nodes.splice(this.#random.integer(this.#nodes.length), 1);
        return this.#state.removeNode(nameOf(node!));
      }
    }
  }

  #removePod(): void {
    if (this.#pods.length === 0) return;
    const [placed] = this.#pods.splice(this.#random.integer(this.#pods.length), 1);
    this.#state.removePod(placed!.pod.metadata.uid!);
  }
}

function copyOf(pod: Pod, name: string): Pod {
  return { ...pod, metadata: { ...pod.metadata, name, uid: name } };
}
