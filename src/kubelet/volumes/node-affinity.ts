import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node } from "../../api/core-v1/types.ts";
import { matchesAnyTerm, selectable } from "../../api/core-v1/node-matching.ts";
import { VolumeError } from "./volume.ts";
import type { ResolvedVolume } from "./volume.ts";

/** Throws a `VolumeError` for a PersistentVolume that cannot be reached from the node (API field `spec.nodeAffinity`). */
export function checkNodeAffinity({ persistent }: ResolvedVolume, node: DeepReadonly<Node> | undefined): void {
  const required = persistent?.spec?.nodeAffinity?.required;
  if (required === undefined || node === undefined || matchesAnyTerm(required.nodeSelectorTerms ?? [], selectable(node))) return;
  throw new VolumeError("no matching NodeSelectorTerms", { operation: "MountVolume.NodeAffinity check" });
}
