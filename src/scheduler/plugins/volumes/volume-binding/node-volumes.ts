import { matchesLabels } from "../../../../apimachinery/selectors/label-selector.ts";
import { quantityValue } from "../../../../apimachinery/quantity.ts";
import { unresolvable } from "../../../framework/refusal.ts";
import { selectorOf } from "../../../state/pod-info.ts";
import { capacityBytes, classOfClaim, classOfVolume, requestedBytes, selectedNode } from "./claim-facts.ts";
import { isReachable, matchVolume } from "./match-volume.ts";
import type { DeepReadonly } from "../../../../apimachinery/json.ts";
import type { StorageClass } from "../../../../api/storage-v1/types.ts";
import type { Refusal } from "../../../framework/refusal.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { PodClaims } from "./pod-claims.ts";
import type { Claim, Volume, VolumeWorld } from "./volume-world.ts";

/** How the pod's claims would get their volumes on a node. */
export interface NodeVolumes {
  readonly matched: readonly { readonly claim: Claim; readonly volume: Volume }[];
  readonly provisioned: readonly Provision[];
}
export interface Provision {
  readonly claim: Claim;
  /** What the driver says is free there; undefined when it does not say. */
  readonly capacityBytes: number | undefined;
}

/** Finds volumes for the pod's claims on a node, or says why there are none. */
export function volumesOn(node: NodeInfo, { bound, delayed }: PodClaims, world: VolumeWorld): NodeVolumes | Refusal {
  const reasons: string[] = [];
  for (const claim of bound) {
    const volume = world.volume(claim.spec?.volumeName ?? "");
    if (volume === undefined) return lostVolume;
    if (!isReachable(volume, node)) {
      reasons.push("node(s) didn't match PersistentVolume's node affinity");
      break;
    }
  }
  const matched: { claim: Claim; volume: Volume }[] = [];
  const toProvision: Claim[] = [];
  let isWithout = false;
  const taken = new Set<string>();
  // Small claims first, so that they do not take what large ones need.
  for (const claim of delayed.toSorted((a, b) => requestedBytes(a) - requestedBytes(b))) {
    const chosen = claim.metadata.annotations?.[selectedNode];
    if (chosen !== undefined) {
      if (chosen === node.name) toProvision.push(claim);
      else isWithout = true;
      continue;
    }
    const candidates = world.volumes().filter((volume) => classOfVolume(volume) === classOfClaim(claim));
    const volume = matchVolume(claim, candidates, { node, taken });
    if (volume === undefined) toProvision.push(claim);
    else {
      taken.add(volume.metadata.name ?? "");
      matched.push({ claim, volume });
    }
  }
  const provisioned: Provision[] = [];
  let isFull = false;
  for (const claim of isWithout ? [] : toProvision) {
    const answer = provisionOn(node, claim, world);
    if (answer === "impossible") isWithout = true;
    else if (answer === "full") isFull = true;
    else provisioned.push(answer);
    if (isWithout || isFull) break;
  }
  if (isWithout) reasons.push("node(s) didn't find available persistent volumes to bind");
  if (isFull) reasons.push("node(s) did not have enough free storage");
  return reasons.length > 0 ? unresolvable(...reasons) : { matched, provisioned };
}

const lostVolume = unresolvable("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
const noProvisioner = "kubernetes.io/no-provisioner";

function provisionOn(node: NodeInfo, claim: Claim, world: VolumeWorld): Provision | "impossible" | "full" {
  const storageClass = world.storageClass(classOfClaim(claim));
  if (storageClass === undefined || storageClass.provisioner === "" || storageClass.provisioner === noProvisioner) return "impossible";
  if (!isAllowedTopology(storageClass, node)) return "impossible";
  const driver = world.objects.csiDrivers.get("", storageClass.provisioner);
  if (driver?.spec?.storageCapacity !== true) return { claim, capacityBytes: undefined };
  const wantedBytes = requestedBytes(claim);
  for (const { storageClassName, nodeTopology, capacity, maximumVolumeSize } of world.objects.csiStorageCapacities.list()) {
    if (storageClassName !== storageClass.metadata.name || nodeTopology === undefined || capacity === undefined) continue;
    if (quantityValue(maximumVolumeSize ?? capacity) < wantedBytes || !matchesLabels(selectorOf(nodeTopology), node.labels)) continue;
    return { claim, capacityBytes: quantityValue(capacity) };
  }
  return "full";
}

function isAllowedTopology({ allowedTopologies = [] }: DeepReadonly<StorageClass>, { labels }: NodeInfo): boolean {
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) => matchLabelExpressions.every(({ key, values = [] }) => values.includes(labels[key] ?? "")));
}

/** By storage class: what is asked for, and what the volumes could hold. Volumes at hand count; without any, free capacity does. */
export function usageByClass({ matched, provisioned }: NodeVolumes): readonly { readonly requested: number; readonly capacity: number }[] {
  const usage = new Map<string, { requested: number; capacity: number }>();
  const add = (claim: Claim, capacity: number) => {
    const one = usage.get(classOfClaim(claim)) ?? { requested: 0, capacity: 0 };
    usage.set(classOfClaim(claim), { requested: one.requested + requestedBytes(claim), capacity: one.capacity + capacity });
  };
  if (matched.length > 0) for (const { claim, volume } of matched) add(claim, capacityBytes(volume));
  else for (const { claim, capacityBytes: free } of provisioned) if (free !== undefined) add(claim, free);
  return [...usage.values()];
}
