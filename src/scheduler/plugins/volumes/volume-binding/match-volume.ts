import { matchesLabels } from "../../../../apimachinery/selectors/label-selector.ts";
import { selectorOf } from "../../../state/pod-info.ts";
import { matchesAnyTerm } from "../../../../api/core-v1/node-matching.ts";
import { capacityBytes, classOfClaim, classOfVolume, isFor, requestedBytes } from "./claim-facts.ts";
import type { NodeInfo } from "../../../state/node-info.ts";
import type { Claim, Volume } from "./volume-world.ts";

/** The smallest volume that the claim could have on that node, of those not yet taken; one that is reserved for it goes first. */
export function matchVolume(claim: Claim, volumes: readonly Volume[], scope: { node: NodeInfo; taken: ReadonlySet<string> }): Volume | undefined {
  const wantedBytes = requestedBytes(claim);
  let best: Volume | undefined;
  for (const volume of volumes) {
    if (scope.taken.has(volume.metadata.name ?? "") || !couldBe(volume, claim, wantedBytes)) continue;
    if (isFor(volume, claim)) return isReachable(volume, scope.node) ? volume : undefined;
    if (volume.spec?.claimRef !== undefined || volume.status?.phase !== "Available" || !isAsked(volume, claim)) continue;
    if (!isReachable(volume, scope.node)) continue;
    if (best === undefined || capacityBytes(volume) < capacityBytes(best)) best = volume;
  }
  return best;
}

/** Whether the volume can be used on the node. */
export function isReachable({ spec }: Volume, node: NodeInfo): boolean {
  const required = spec?.nodeAffinity?.required;
  return required === undefined || matchesAnyTerm(required.nodeSelectorTerms ?? [], node);
}

function couldBe(volume: Volume, claim: Claim, wantedBytes: number): boolean {
  if (volume.metadata.deletionTimestamp !== undefined || capacityBytes(volume) < wantedBytes) return false;
  if ((volume.spec?.volumeMode ?? "Filesystem") !== (claim.spec?.volumeMode ?? "Filesystem")) return false;
  return (volume.spec?.volumeAttributesClassName ?? "") === (claim.spec?.volumeAttributesClassName ?? "");
}

function isAsked(volume: Volume, claim: Claim): boolean {
  if (classOfVolume(volume) !== classOfClaim(claim)) return false;
  const { selector, accessModes = [] } = claim.spec ?? {};
  if (selector !== undefined && !matchesLabels(selectorOf(selector), volume.metadata.labels)) return false;
  return accessModes.every((mode) => volume.spec?.accessModes?.includes(mode) === true);
}
