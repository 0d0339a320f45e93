/**
 * Random clusters against a naive scorer that works everything out from the objects: the chosen node is always one of the best, with the very
 * total, and no pod is refused while a node fits; devices that are given are free and are what was asked for; who has to leave for a more
 * important pod are the fewest, on the best node. Nodes, pods, budgets and claims come, go and change in between, so that counters and memories
 * are put to the test; and a pod that was refused is never left waiting after a change that lets it in.
 */
import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { seededRandom } from "../base/random.ts";
import { seedList } from "../testing/seeds.ts";
import { builtInPlugins } from "./config/plugin-registry.ts";
import { buildProfiles } from "./config/build-profiles.ts";
import { schedulePod } from "./framework/schedule-pod.ts";
import { VerdictCache } from "./framework/verdict-cache.ts";
import { podInfoOf } from "./state/pod-info.ts";
import { servicesOf } from "./test-support/cluster.ts";
import { allocationsIn, OracleCluster } from "./test-support/oracle/cluster.ts";
import { claimsOf, faultOf } from "./test-support/oracle/devices.ts";
import { isFeasible } from "./test-support/oracle/feasible.ts";
import { compareHarm, evictions, harmOf, priorityOf } from "./test-support/oracle/preemption.ts";
import { totals } from "./test-support/oracle/score.ts";
import { nameOf } from "./test-support/oracle/world.ts";
import { newEntry } from "./queue/queue-entry.ts";
import { requeueAfter } from "./queue/hints.ts";
import type { Random } from "../base/random.ts";
import type { Pod } from "../api/core-v1/types.ts";
import type { Assigned, Unschedulable } from "./framework/decision.ts";
import type { Outcome } from "./framework/schedule-pod.ts";
import type { Profile } from "./framework/profile.ts";
import type { QueueEntry } from "./queue/queue-entry.ts";

const decisions = 40;
/** How many pods that were refused are watched. */
const watched = 4;

for (const seed of seedList(12)) test(`scheduler: decisions agree with the oracle, seed ${seed}`, () => new Trial(seed).run());

class Trial {
  readonly #random: Random;
  readonly #cluster: OracleCluster;
  readonly #profile: Profile;
  readonly #cache = new VerdictCache();
  #waiting: QueueEntry[] = [];

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#cluster = new OracleCluster(this.#random, 1 + this.#random.integer(seed % 10 === 0 ? 200 : 25));
    this.#profile = buildProfiles({ percentageOfNodesToScore: 100 }, builtInPlugins, servicesOf(this.#cluster.state)).get("default-scheduler")!;
  }

  run(): void {
    const templates = Array.from({ length: 6 }, () => this.#cluster.pod());
    for (let count = 0; count < decisions; count++) {
      this.#cluster.change();
      this.#reconsider();
      const { generator } = this.#cluster;
      const pod = generator.chance(2) ? this.#cluster.pod() : copyOf(generator.pick(templates), `copy-${count}`);
      const outcome = this.#decide(pod, count);
      if (outcome.decision.kind === "unschedulable") this.#afterRefusal(pod, outcome.decision, count);
      this.#reconsider();
    }
  }

  #decide(pod: Pod, startIndex: number): Outcome {
    const { state } = this.#cluster;
    const outcome = schedulePod({ snapshot: state, pod: podInfoOf(pod), profile: this.#profile, random: this.#random, startIndex, cache: this.#cache });
    const { decision } = outcome;
    const { world } = this.#cluster;
    const feasible = world.nodes.filter((node) => isFeasible(pod, node, world));
    const what = JSON.stringify(pod);
    if (feasible.length === 0) equal(decision.kind, "unschedulable", what);
    else {
      ok(decision.kind === "assigned", `${what}: fits ${nameOf(feasible[0]!)}, but ${decision.kind === "assigned" ? "" : decision.message}`);
      this.#checkScores(pod, decision);
      this.#checkDevices(pod, decision, outcome);
      this.#cluster.place(pod, decision.node.name, allocationsIn(outcome.cycle, decision.node.name));
    }
    return outcome;
  }

  #checkScores(pod: Pod, decision: Assigned): void {
    const { world } = this.#cluster;
    const what = JSON.stringify(pod);
    const feasible = world.nodes.filter((node) => isFeasible(pod, node, world));
    const scores = totals(pod, feasible, world);
    const byName = new Map(feasible.map((node, index) => [nameOf(node), scores[index]!]));
    equal(byName.get(decision.node.name), Math.max(...scores), `${what} on ${decision.node.name}`);
    const { nodes, totals: own } = decision.scores;
    if (feasible.length > 1)
      deepEqual(Object.fromEntries(nodes.map(({ name }, index) => [name, own[index]]).toSorted()), Object.fromEntries([...byName].toSorted()), what);
  }

  #checkDevices(pod: Pod, { node: { name } }: Assigned, { cycle }: Outcome): void {
    const { world } = this.#cluster;
    const node = world.nodes.find((one) => nameOf(one) === name)!;
    const given = allocationsIn(cycle, name);
    const open = claimsOf(pod, world).filter(({ status }) => status?.allocation === undefined);
    deepEqual(given.map(({ claim }) => claim.metadata.name).sort(), open.map(({ metadata }) => metadata.name).sort());
    for (const { claim, picks } of given) {
      const chosen = picks.map(({ request, found }) => ({ request, device: found.device.name }));
      equal(
        faultOf(
          open.find(({ metadata }) => metadata.name === claim.metadata.name)!,
          chosen,
          { node, world },
        ),
        undefined,
        JSON.stringify(claim),
      );
    }
  }

  /** Pushes out whom the decision names, which has to let the pod in; else the pod waits. */
  #afterRefusal(pod: Pod, decision: Unschedulable, count: number): void {
    const { nominatedNodeName = "", victims = [] } = decision.postFilter ?? {};
    this.#checkPreemption(pod, { nodeName: nominatedNodeName, victims: victims.map((victim) => victim.pod as Pod) }, decision.message);
    if (nominatedNodeName === "") {
      if (this.#waiting.length === watched) this.#waiting.shift();
      this.#waiting.push({ ...newEntry(podInfoOf(pod), 0), rejectors: decision.rejectors, pendingPlugins: decision.pendingPlugins });
      return;
    }
    for (const victim of victims) this.#cluster.removePod(victim.uid);
    equal(this.#decide(pod, count).decision.kind, "assigned", JSON.stringify(pod));
  }

  #checkPreemption(pod: Pod, chosen: { nodeName: string; victims: readonly Pod[] }, message: string): void {
    const { world } = this.#cluster;
    const what = `${JSON.stringify(pod)}: ${message}`;
    const possible = pod.spec?.preemptionPolicy === "Never" ? new Map<string, never>() : evictions(pod, world);
    if (chosen.nodeName === "") return deepEqual([...possible.keys()], [], what);
    const eviction = possible.get(chosen.nodeName);
    ok(eviction !== undefined, what);
    deepEqual(chosen.victims.map(({ metadata }) => metadata.uid).sort(), eviction.victims.map(({ metadata }) => metadata.uid).sort(), what);
    ok(
      chosen.victims.every((victim) => priorityOf(victim) < priorityOf(pod)),
      what,
    );
    // Of more nodes not all are looked at.
    if (possible.size > 100) return;
    const least = [...possible.values()].map(harmOf).reduce((a, b) => (compareHarm(a, b) <= 0 ? a : b));
    deepEqual(harmOf(eviction), least, what);
  }

  /** Lets pods go that something which happened may help; the others must still fit nowhere. */
  #reconsider(): void {
    const { world } = this.#cluster;
    const events = this.#cluster.takeEvents();
    this.#waiting = this.#waiting.filter((entry) => events.every((event) => requeueAfter(entry, event, this.#profile) === "skip"));
    for (const { info, rejectors } of this.#waiting) {
      const node = world.nodes.find((one) => isFeasible(info.pod as Pod, one, world));
      const place = node === undefined ? "" : nameOf(node);
      equal(place, "", `${JSON.stringify(info.pod)}, refused by ${[...rejectors].join(", ")}, fits ${place} after ${JSON.stringify(events)}`);
    }
  }
}

function copyOf(pod: Pod, name: string): Pod {
  return { ...pod, metadata: { ...pod.metadata, name, uid: name } };
}
