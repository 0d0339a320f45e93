import { isRefusal, unresolvable } from "../../framework/refusal.ts";
import { reserveVolumes } from "./volume-binding/bind-volumes.ts";
import { usageByClass, volumesOn } from "./volume-binding/node-volumes.ts";
import { podClaims } from "./volume-binding/pod-claims.ts";
import { hasMoreRoom, isAboutClaimOf, isAboutClassOf, isAboutVolumeOf, stopsCounting } from "./volume-binding/volume-events.ts";
import { piecewise } from "../resources/piecewise.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Client } from "../../../client/index.ts";
import type { Cycle, Plugin } from "../../framework/plugin.ts";
import type { ShapePoint } from "../resources/piecewise.ts";
import type { NodeVolumes } from "./volume-binding/node-volumes.ts";
import type { VolumeWorld } from "./volume-binding/volume-world.ts";

/** Finds volumes for claims that wait for their first pod, and nodes that can reach the volumes of the others (KEP-490, KEP-1472). */
export function volumeBinding({ bindTimeoutSeconds, shape }: VolumeBindingArgs, services: VolumeBindingServices): Plugin {
  const { volumes: world, client, clock } = services;
  const scoreAt = piecewise(shape);
  return {
    name: "VolumeBinding",
    events: [
      { resource: "StorageClass", actions: ["Add", "Update"], helps: (pod, event) => isAboutClassOf(pod, event, world) },
      { resource: "PersistentVolumeClaim", actions: ["Add", "Update"], helps: isAboutClaimOf },
      { resource: "PersistentVolume", actions: ["Add", "Update"], helps: (pod, event) => isAboutVolumeOf(pod, event, world) },
      { resource: "Node", actions: ["Add", "UpdateNodeLabel"] },
      { resource: "CSIDriver", actions: ["Update", "Delete"], helps: (_, event) => stopsCounting(event) },
      { resource: "CSIStorageCapacity", actions: ["Add", "Update"], helps: (pod, event) => hasMoreRoom(pod, event, world) },
    ],
    preFilter(cycle) {
      const { pod } = cycle;
      if (pod.claimNames.length === 0) return "skip";
      const claims = podClaims(pod, world);
      if (isRefusal(claims)) return claims;
      if (claims.immediate.length > 0) return unbound;
      const found = new Map<string, NodeVolumes>();
      cycle.state.set(foundKey, found);
      return {
        refuse(node) {
          const answer = volumesOn(node, claims, world);
          if (isRefusal(answer)) return answer;
          found.set(node.name, answer);
          return undefined;
        },
      };
    },
    preScore(cycle, nodes) {
      const found = foundIn(cycle);
      if (found === undefined || nodes.every(({ name }) => usageByClass(found.get(name) ?? nothing).length === 0)) return "skip";
      return {
        score({ name }) {
          const usage = usageByClass(found.get(name) ?? nothing);
          if (usage.length === 0) return 0;
          const scores = usage.map(({ requested, capacity }) =>
            scoreAt(capacity === 0 || requested > capacity ? 100 : Math.trunc((requested * 100) / capacity)),
          );
          return Math.round(scores.reduce((sum, score) => sum + score, 0) / scores.length);
        },
      };
    },
    reserve(cycle, { name }) {
      const found = foundIn(cycle)?.get(name);
      return found && reserveVolumes(found, name, { client, clock, world, bindTimeoutMs: bindTimeoutSeconds * 1000 });
    },
  };
}

export interface VolumeBindingArgs {
  readonly bindTimeoutSeconds: number;
  readonly shape: readonly ShapePoint[];
}

export interface VolumeBindingServices {
  readonly client: Client;
  readonly clock: Clock;
  readonly volumes: VolumeWorld;
}

const unbound = unresolvable("pod has unbound immediate PersistentVolumeClaims");
const nothing: NodeVolumes = { matched: [], provisioned: [] };
const foundKey = "VolumeBinding";

function foundIn(cycle: Cycle): ReadonlyMap<string, NodeVolumes> | undefined {
  return cycle.state.get(foundKey) as ReadonlyMap<string, NodeVolumes> | undefined;
}
