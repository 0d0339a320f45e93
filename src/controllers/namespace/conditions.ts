import { formatTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { NamespaceCondition } from "../../api/core-v1/types.ts";

/** What one round of emptying a namespace found. */
export interface DeletionFindings {
  /** Discovery did not tell of everything. */
  readonly discoveryFault: string | undefined;
  /** What could not be deleted. */
  readonly contentFaults: readonly string[];
  /** Objects left per resource (`pods`, `deployments.apps`). */
  readonly remaining: ReadonlyMap<string, number>;
  /** Objects left per finalizer that holds them. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Only pods were looked at so far: what remains is not told yet. */
  readonly isWaitingForPods: boolean;
}

/** The conditions that tell of a namespace's deletion (KEP-1164), over those that were there. */
export function deletionConditions(current: readonly DeepReadonly<NamespaceCondition>[], findings: DeletionFindings, nowMs: number): NamespaceCondition[] {
  const { discoveryFault, contentFaults, isWaitingForPods } = findings;
  const { remaining, finalizers } = isWaitingForPods ? { remaining: new Map<string, number>(), finalizers: new Map<string, number>() } : findings;
  const wanted: NamespaceCondition[] = [
    discoveryFault === undefined
      ? claim("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered")
      : claim("NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", discoveryFault),
    claim("NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    contentFaults.length === 0
      ? claim("NamespaceDeletionContentFailure", "False", "ContentDeleted", "All content successfully deleted, may be waiting on finalization")
      : claim(
          "NamespaceDeletionContentFailure",
          "True",
          "ContentDeletionFailed",
          `Failed to delete all resource types, ${contentFaults.length} remaining: ${contentFaults.join(", ")}`,
        ),
    remaining.size === 0
      ? claim("NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed")
      : claim(
          "NamespaceContentRemaining",
          "True",
          "SomeResourcesRemain",
          `Some resources are remaining: ${counted(remaining, "has", "resource instances").join(", ")}`,
        ),
    finalizers.size === 0
      ? claim("NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers", "All content-preserving finalizers finished")
      : claim(
          "NamespaceFinalizersRemaining",
          "True",
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${counted(finalizers, "in", "resource instances").join(", ")}`,
        ),
  ];
  const merged = current.map((old) =>
    settled(
      old,
      wanted.find(({ type }) => type === old.type),
      nowMs,
    ),
  );
  const fresh = wanted.filter(({ type }) => !current.some((old) => old.type === type));
  return [...merged, ...fresh.map((condition) => timed(condition, nowMs))];
}

function claim(type: string, status: string, reason: string, message: string): NamespaceCondition {
  return { type, status, reason, message };
}

function counted(counts: ReadonlyMap<string, number>, word: "has" | "in", unit: string): string[] {
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  return sorted.map(([name, count]) => (word === "has" ? `${name} has ${count} ${unit}` : `${name} in ${count} ${unit}`));
}

/** The old condition, unless there is news. */
function settled(old: DeepReadonly<NamespaceCondition>, wanted: NamespaceCondition | undefined, nowMs: number): NamespaceCondition {
  if (wanted === undefined) return old;
  const isSame = old.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message;
  if (isSame) return old;
  return old.status === wanted.status ? { ...timed(wanted, nowMs), lastTransitionTime: old.lastTransitionTime ?? formatTime(nowMs) } : timed(wanted, nowMs);
}

function timed({ type, status, reason, message }: NamespaceCondition, nowMs: number): NamespaceCondition {
  return { type, status, lastTransitionTime: formatTime(nowMs), reason, message } as NamespaceCondition;
}
