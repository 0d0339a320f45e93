import { hasAllKeys } from "./constraint.ts";
import type { Snapshot } from "../../../state/snapshot.ts";
import type { Constraint } from "./constraint.ts";

/** Which nodes have all topology keys of a set of constraints, and in which domains they are. */
export interface NodesWithKeys {
  readonly areAll: boolean;
  /** By topology key. */
  readonly domains: ReadonlyMap<string, readonly string[]>;
}

/** Of the last nodes that were looked at, by topology keys: they change only with the nodes. */
const known = new WeakMap<Snapshot, { version: number; byKeys: Map<string, NodesWithKeys> }>();

export function nodesWithKeys(constraints: readonly Constraint[], snapshot: Snapshot): NodesWithKeys {
  let memory = known.get(snapshot);
  if (memory?.version !== snapshot.nodesVersion) known.set(snapshot, (memory = { version: snapshot.nodesVersion, byKeys: new Map() }));
  const keys = [...new Set(constraints.map(({ topologyKey }) => topologyKey))].sort();
  const key = keys.join("\u0000");
  let answer = memory.byKeys.get(key);
  if (answer === undefined) {
    const nodes = snapshot.nodes.filter((node) => hasAllKeys(constraints, node));
    const domains = new Map(keys.map((one) => [one, [...new Set(nodes.map(({ labels }) => labels[one]!))]]));
    memory.byKeys.set(key, (answer = { areAll: nodes.length === snapshot.nodes.length, domains }));
  }
  return answer;
}
