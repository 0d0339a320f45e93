import { countsFor, hostname, matchingOn, means, tolerates, zone } from "./feasible.ts";
import { allocatable, holds, labelsOf, nameOf, podsOn, requested, selects } from "./world.ts";
import type { Node, Pod, PodAffinityTerm, TopologySpreadConstraint } from "../../../api/core-v1/types.ts";
import type { Requirement, Selector, World } from "./world.ts";

/** The total of each feasible node, by all plugins with their default weights. */
export function totals(pod: Pod, feasible: readonly Node[], world: World): number[] {
  const parts: readonly (readonly [weight: number, scores: readonly number[]])[] = [
    [
      3,
      shareOfHighest(
        feasible.map((node) => (node.spec?.taints ?? []).filter((taint) => taint.effect === "PreferNoSchedule" && !tolerates(pod, taint)).length),
      ).map((share) => 100 - share),
    ],
    [2, shareOfHighest(feasible.map((node) => preferredWeight(pod, node)))],
    [1, feasible.map((node) => leastAllocated(pod, node, world))],
    [1, feasible.map((node) => balanced(pod, node, world))],
    [2, spread(pod, feasible, world)],
    [2, interPodAffinity(pod, feasible, world)],
    [1, feasible.map((node) => imageLocality(pod, node, world))],
  ];
  return feasible.map((_, index) => parts.reduce((sum, [weight, scores]) => sum + weight * scores[index]!, 0));
}

function shareOfHighest(values: readonly number[]): number[] {
  const highest = Math.max(...values);
  return values.map((value) => (highest === 0 ? 0 : Math.floor((100 * value) / highest)));
}

function preferredWeight({ spec }: Pod, node: Node): number {
  const terms = spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms
    .filter(({ preference }) => preference.matchExpressions!.every((one) => holds(one as Requirement, labelsOf(node))))
    .reduce((sum, { weight }) => sum + weight, 0);
}

/** The free share of cpu and memory, where containers that ask for nothing count 100m and 200Mi. */
function leastAllocated(pod: Pod, node: Node, world: World): number {
  const parts = (
    [
      ["cpu", 100],
      ["memory", 200 * 2 ** 20],
    ] as const
  ).map(([name, ifNone]) => {
    const total = allocatable(node, name);
    const used = [...podsOn(world, node), pod].reduce((sum, one) => sum + requested(one, name, ifNone), 0);
    return used > total ? 0 : Math.floor(((total - used) * 100) / total);
  });
  return Math.floor((parts[0]! + parts[1]!) / 2);
}

/** 75 and half of what the pod adds to the evenness of cpu and memory. */
function balanced(pod: Pod, node: Node, world: World): number {
  const names = ["cpu", "memory"];
  if (names.every((name) => requested(pod, name) === 0)) return 0;
  const evenness = (pods: readonly Pod[]) => {
    const [cpu = 0, memory = 0] = names.map((name) => Math.min(1, pods.reduce((sum, one) => sum + requested(one, name), 0) / allocatable(node, name)));
    return Math.floor((1 - Math.abs(cpu - memory) / 2) * 100);
  };
  return 75 + Math.trunc((evenness([...podsOn(world, node), pod]) - evenness(podsOn(world, node))) / 2);
}

function imageLocality({ spec }: Pod, node: Node, { nodes }: World): number {
  const images = spec!.containers!.map(({ image = "" }) => image);
  const sizeOn = (one: Node, image: string) => one.status?.images?.find(({ names }) => names?.includes(image))?.sizeBytes;
  const [least, most] = [23 * 2 ** 20, 1000 * 2 ** 20 * images.length];
  const sum = images.reduce((total, image) => {
    const holders = nodes.filter((one) => sizeOn(one, image) !== undefined).length;
    return total + Math.floor((sizeOn(node, image) ?? 0) * (holders / nodes.length));
  }, 0);
  return Math.floor((100 * (Math.min(Math.max(sum, least), most) - least)) / (most - least));
}

/** Own soft constraints; a pod without any constraint is spread by what its Services select. */
function spread(pod: Pod, feasible: readonly Node[], world: World): readonly number[] {
  const own = pod.spec?.topologySpreadConstraints ?? [];
  const constraints = own.length > 0 ? own.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway") : byServices(pod, world);
  if (constraints.length === 0) return feasible.map(() => 0);
  const isIgnored = (node: Node) => own.length > 0 && constraints.some(({ topologyKey }) => labelsOf(node)[topologyKey] === undefined);
  const eligible = feasible.filter((node) => !isIgnored(node));
  const rawOf = (node: Node) =>
    constraints.reduce((sum, constraint) => {
      const { topologyKey, maxSkew } = constraint;
      const domain = labelsOf(node)[topologyKey];
      if (domain === undefined) return sum;
      const selector = constraint.labelSelector as Selector;
      const domains = new Set(eligible.map((one) => labelsOf(one)[topologyKey]).filter((one) => one !== undefined));
      const counted =
        topologyKey === hostname
          ? [node]
          : world.nodes.filter((one) => labelsOf(one)[topologyKey] === domain && !isIgnored(one) && countsFor(pod, one, constraint));
      const count = counted.reduce((total, one) => total + matchingOn(pod, one, selector, world), 0);
      return sum + (count * Math.log((topologyKey === hostname ? eligible.length : domains.size) + 2) + (maxSkew - 1));
    }, 0);
  const raw = feasible.map((node) => (isIgnored(node) ? undefined : Math.round(rawOf(node))));
  const known = raw.filter((one) => one !== undefined);
  const [lowest, highest] = [Math.min(...known), Math.max(0, ...known)];
  return raw.map((one) => (one === undefined ? 0 : highest === 0 ? 100 : Math.floor((100 * (highest + lowest - one)) / highest)));
}

function byServices(pod: Pod, { services }: World): readonly TopologySpreadConstraint[] {
  const matchLabels: Record<string, string> = {};
  for (const { metadata, spec } of services)
    if (metadata.namespace === pod.metadata.namespace && selects({ matchLabels: spec!.selector! }, labelsOf(pod))) Object.assign(matchLabels, spec!.selector);
  if (Object.keys(matchLabels).length === 0) return [];
  const soft = { whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels } };
  return [
    { ...soft, topologyKey: hostname, maxSkew: 3 },
    { ...soft, topologyKey: zone, maxSkew: 5 },
  ];
}

function interPodAffinity(pod: Pod, feasible: readonly Node[], { nodes, pods }: World): readonly number[] {
  const points: { key: string; value: string; by: number }[] = [];
  const add = (term: PodAffinityTerm, node: Node, by: number) => {
    const value = labelsOf(node)[term.topologyKey];
    if (value !== undefined) points.push({ key: term.topologyKey, value, by });
  };
  for (const { pod: other, nodeName } of pods) {
    const node = nodes.find((one) => nameOf(one) === nodeName);
    if (node === undefined) continue;
    const [mine, theirs] = [pod.spec?.affinity, other.spec?.affinity];
    for (const { weight, podAffinityTerm: term } of mine?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      if (means(pod, term, other)) add(term, node, weight);
    for (const { weight, podAffinityTerm: term } of mine?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      if (means(pod, term, other)) add(term, node, -weight);
    for (const term of theirs?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) if (means(other, term, pod)) add(term, node, 1);
    for (const { weight, podAffinityTerm: term } of theirs?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      if (means(other, term, pod)) add(term, node, weight);
    for (const { weight, podAffinityTerm: term } of theirs?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      if (means(other, term, pod)) add(term, node, -weight);
  }
  const raw = feasible.map((node) => points.filter(({ key, value }) => labelsOf(node)[key] === value).reduce((sum, { by }) => sum + by, 0));
  const [lowest, highest] = [Math.min(...raw), Math.max(...raw)];
  return raw.map((one) => (highest === lowest ? 0 : Math.floor((100 * (one - lowest)) / (highest - lowest))));
}
