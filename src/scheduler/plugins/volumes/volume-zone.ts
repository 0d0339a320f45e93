import { unresolvable } from "../../framework/refusal.ts";
import { classOfClaim, isDelayed } from "./volume-binding/claim-facts.ts";
import { isAboutClaimOf, isAboutClassOf, isAboutVolumeOf } from "./volume-binding/volume-events.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { Refusal } from "../../framework/refusal.ts";
import type { PodInfo } from "../../state/pod-info.ts";
import type { VolumeWorld } from "./volume-binding/volume-world.ts";

/** Volumes that say by labels which zone they are in can be used only there. */
export function volumeZone(world: VolumeWorld): Plugin {
  return {
    name: "VolumeZone",
    events: [
      { resource: "StorageClass", actions: ["Add"], helps: (pod, event) => isAboutClassOf(pod, event, world) },
      { resource: "PersistentVolumeClaim", actions: ["Add", "Update"], helps: isAboutClaimOf },
      {
        resource: "PersistentVolume",
        actions: ["Add", "Update"],
        helps: (pod, event) => isAboutVolumeOf(pod, event, world) && (event.old === undefined || changesZone(event)),
      },
      { resource: "Node", actions: ["Add", "UpdateNodeLabel"], helps: (_, event) => event.old === undefined || changesZone(event) },
    ],
    preFilter({ pod }) {
      if (pod.claimNames.length === 0) return "skip";
      const wanted = zonesOf(pod, world);
      if (!Array.isArray(wanted)) return wanted;
      if (wanted.length === 0) return "skip";
      return {
        refuse({ labels }) {
          if (!zoneKeys.some((key) => key in labels)) return undefined;
          return wanted.every(({ key, zones }) => zones.has(labels[key] ?? labels[otherName.get(key)!] ?? "")) ? undefined : otherZone;
        },
      };
    },
  };
}

const otherName = new Map([
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"],
  ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"],
]);
const zoneKeys = [...otherName.keys()];
const otherZone = unresolvable("node(s) had no available volume zone");

function changesZone({ old, current }: ClusterEvent): boolean {
  return zoneKeys.some((key) => old?.metadata.labels?.[key] !== current?.metadata.labels?.[key]);
}

interface WantedZone {
  readonly key: string;
  readonly zones: ReadonlySet<string>;
}

function zonesOf(pod: PodInfo, world: VolumeWorld): WantedZone[] | Refusal {
  const wanted: WantedZone[] = [];
  for (const name of pod.claimNames) {
    const claim = world.claim(pod.namespace, name);
    if (claim === undefined) return unresolvable(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    const volumeName = claim.spec?.volumeName ?? "";
    if (volumeName === "") {
      if (isDelayed(claim, world)) continue;
      if (classOfClaim(claim) === "") return unresolvable("PersistentVolumeClaim had no pv name and storageClass name");
      return unresolvable("PersistentVolume had no name");
    }
    const volume = world.volume(volumeName);
    if (volume === undefined) return unresolvable(`persistentvolume ${JSON.stringify(volumeName)} not found`);
    for (const key of zoneKeys) {
      const value = volume.metadata.labels?.[key];
      // Regional volumes name several zones.
      if (value !== undefined) wanted.push({ key, zones: new Set(value.split("__")) });
    }
  }
  return wanted;
}
