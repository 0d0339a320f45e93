import { hasDevices } from "./devices.ts";
import { allocatable, holds, labelsOf, nameOf, podsOn, requested, selects } from "./world.ts";
import type { Node, Pod, PodAffinityTerm, Taint, Toleration, TopologySpreadConstraint } from "../../../api/core-v1/types.ts";
import type { Requirement, Selector, World } from "./world.ts";

/** Whether a node can take a pod, each rule read off its documentation and worked out from nothing. */
export function isFeasible(pod: Pod, node: Node, world: World): boolean {
  return rules.every(({ isMet }) => isMet(pod, node, world));
}

/** What the first rule that is broken depends on: pods that could leave, or anything else. Undefined when none is. */
export function firstObstacle(pod: Pod, node: Node, world: World): "pods" | "other" | undefined {
  const broken = rules.find(({ isMet }) => !isMet(pod, node, world));
  return broken && (broken.isHopeless(pod, node) ? "other" : "pods");
}

type Check = (pod: Pod, node: Node, world: World) => boolean;
interface Rule {
  readonly isMet: Check;
  /** Whether it does not help that pods leave. */
  readonly isHopeless: (pod: Pod, node: Node) => boolean;
}
const hostname = "kubernetes.io/hostname";
const zone = "topology.kubernetes.io/zone";

const always = (isMet: Check): Rule => ({ isMet, isHopeless: () => true });
const never = (isMet: Check): Rule => ({ isMet, isHopeless: () => false });
const resourceNames = ["cpu", "memory", "example.com/widget"];

/** In the order in which they are asked. */
const rules: readonly Rule[] = [
  always((pod, node) => node.spec?.unschedulable !== true || tolerates(pod, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" })),
  always((pod, node) => toleratesAll(pod, node)),
  always((pod, node) => wantsNode(pod, node)),
  never(hasFreePorts),
  { isMet: hasRoom, isHopeless: (pod, node) => resourceNames.some((name) => requested(pod, name) > allocatable(node, name)) },
  always(reachesVolumes),
  { isMet: staysEven, isHopeless: isOutside },
  always(meetsWanted),
  never(avoidsUnwanted),
  never(isWelcome),
  always(hasDevices),
];

export function tolerates({ spec }: Pod, taint: Taint): boolean {
  return (spec?.tolerations ?? []).some((one: Toleration) => {
    if ((one.effect ?? "") !== "" && one.effect !== taint.effect) return false;
    if ((one.key ?? "") !== "" && one.key !== taint.key) return false;
    return one.operator === "Exists" || (one.value ?? "") === (taint.value ?? "");
  });
}

function toleratesAll(pod: Pod, node: Node): boolean {
  return (node.spec?.taints ?? []).every((taint) => taint.effect === "PreferNoSchedule" || tolerates(pod, taint));
}

/** nodeSelector and required node affinity. */
function wantsNode({ spec }: Pod, node: Node): boolean {
  const labels = labelsOf(node);
  if (!Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (
    required === undefined ||
    required.nodeSelectorTerms!.some(
      (term) => (term.matchExpressions ?? []).length > 0 && term.matchExpressions!.every((one) => holds(one as Requirement, labels)),
    )
  );
}

function hasFreePorts(pod: Pod, node: Node, world: World): boolean {
  const portsOf = (one: Pod) => one.spec!.containers!.flatMap(({ ports = [] }) => ports.filter(({ hostPort }) => hostPort !== undefined));
  return portsOf(pod).every((wanted) =>
    podsOn(world, node).every((other) =>
      portsOf(other).every((used) => {
        const [a, b] = [wanted.hostIP ?? "0.0.0.0", used.hostIP ?? "0.0.0.0"];
        return wanted.hostPort !== used.hostPort || (wanted.protocol ?? "TCP") !== (used.protocol ?? "TCP") || !(a === b || a === "0.0.0.0" || b === "0.0.0.0");
      }),
    ),
  );
}

function hasRoom(pod: Pod, node: Node, world: World): boolean {
  const others = podsOn(world, node);
  if (others.length + 1 > allocatable(node, "pods")) return false;
  return resourceNames.every((name) => {
    const wanted = requested(pod, name);
    return wanted === 0 || others.reduce((sum, other) => sum + requested(other, name), wanted) <= allocatable(node, name);
  });
}

/** Bound claims: the volume's node affinity, and its zone label. */
function reachesVolumes({ spec }: Pod, node: Node, { claims, volumes }: World): boolean {
  return (spec?.volumes ?? []).every(({ persistentVolumeClaim }) => {
    const claim = claims.find(({ metadata }) => metadata.name === persistentVolumeClaim?.claimName);
    const volume = volumes.find(({ metadata }) => metadata.name === claim?.spec?.volumeName);
    if (volume === undefined) return persistentVolumeClaim === undefined;
    const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
    if (terms !== undefined && !terms.some((term) => term.matchExpressions!.every((one) => holds(one as Requirement, labelsOf(node))))) return false;
    const wanted = volume.metadata.labels?.[zone];
    return wanted === undefined || labelsOf(node)[zone] === undefined || labelsOf(node)[zone] === wanted;
  });
}

function hardConstraints({ spec }: Pod): readonly TopologySpreadConstraint[] {
  return (spec?.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
}

/** Whether a node's pods count for a constraint of the pod. */
export function countsFor(pod: Pod, node: Node, { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" }: TopologySpreadConstraint): boolean {
  if (nodeAffinityPolicy === "Honor" && !wantsNode(pod, node)) return false;
  return nodeTaintsPolicy === "Ignore" || toleratesAll(pod, node);
}

export function matchingOn(pod: Pod, node: Node, selector: Selector | undefined, world: World): number {
  return podsOn(world, node).filter(({ metadata }) => metadata.namespace === pod.metadata.namespace && selects(selector, metadata.labels ?? {})).length;
}

function staysEven(pod: Pod, node: Node, world: World): boolean {
  return hardConstraints(pod).every((constraint) => staysEvenBy(constraint, pod, { node, world }));
}

/** Constraint after constraint: one whose label is missing, before any that is broken, cannot be helped. */
function isOutside(pod: Pod, node: Node): boolean {
  return hardConstraints(pod).some(({ topologyKey }) => labelsOf(node)[topologyKey] === undefined);
}

function staysEvenBy(constraint: TopologySpreadConstraint, pod: Pod, { node, world }: { node: Node; world: World }): boolean {
  const { topologyKey, maxSkew, minDomains = 1 } = constraint;
  const selector = constraint.labelSelector as Selector | undefined;
  const keys = hardConstraints(pod).map((one) => one.topologyKey);
  if (labelsOf(node)[topologyKey] === undefined) return false;
  const eligible = world.nodes.filter((one) => keys.every((key) => labelsOf(one)[key] !== undefined) && countsFor(pod, one, constraint));
  const domains = [...new Set(eligible.map((one) => labelsOf(one)[topologyKey]!))];
  const countIn = (domain: string) =>
    eligible.filter((one) => labelsOf(one)[topologyKey] === domain).reduce((sum, one) => sum + matchingOn(pod, one, selector, world), 0);
  const fewest = domains.length < minDomains ? 0 : Math.min(...domains.map(countIn));
  const own = selects(selector, labelsOf(pod)) ? 1 : 0;
  return countIn(labelsOf(node)[topologyKey]!) + own - fewest <= maxSkew;
}

/** Whether a term of one pod speaks of another. */
export function means(owner: Pod, term: PodAffinityTerm, other: Pod): boolean {
  const names = term.namespaces ?? (term.namespaceSelector === undefined ? [owner.metadata.namespace!] : []);
  // The oracle's namespaces have no labels: only the selector of all of them finds any.
  const isMeant = names.includes(other.metadata.namespace!) || term.namespaceSelector !== undefined;
  return isMeant && selects(term.labelSelector as Selector | undefined, labelsOf(other));
}

const sameDomain = (key: string, one: Node, other: Node) => labelsOf(one)[key] !== undefined && labelsOf(one)[key] === labelsOf(other)[key];

function meetsWanted(pod: Pod, node: Node, { nodes, pods }: World): boolean {
  const terms = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => labelsOf(node)[topologyKey] === undefined)) return false;
  const nodeBy = new Map(nodes.map((one) => [nameOf(one), one]));
  const group = pods.filter((other) => terms.every((term) => means(pod, term, other.pod)));
  const isIn = ({ topologyKey }: PodAffinityTerm) => group.some(({ nodeName }) => nodeBy.has(nodeName) && sameDomain(topologyKey, nodeBy.get(nodeName)!, node));
  if (terms.every(isIn)) return true;
  const isNowhere = !group.some(
    ({ nodeName }) => nodeBy.has(nodeName) && terms.some(({ topologyKey }) => labelsOf(nodeBy.get(nodeName)!)[topologyKey] !== undefined),
  );
  return isNowhere && terms.every((term) => means(pod, term, pod));
}

function avoidsUnwanted(pod: Pod, node: Node, { nodes, pods }: World): boolean {
  const terms = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.every((term) =>
    pods.every((other) => !means(pod, term, other.pod) || !nodes.some((one) => nameOf(one) === other.nodeName && sameDomain(term.topologyKey, one, node))),
  );
}

function isWelcome(pod: Pod, node: Node, { nodes, pods }: World): boolean {
  return pods.every((other) =>
    (other.pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).every(
      (term) => !means(other.pod, term, pod) || !nodes.some((one) => nameOf(one) === other.nodeName && sameDomain(term.topologyKey, one, node)),
    ),
  );
}

export { hostname, wantsNode, zone };
