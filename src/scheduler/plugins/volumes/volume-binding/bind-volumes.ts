import { deadline, sleep } from "../../../../base/clock.ts";
import { isAbort } from "../../../../base/task-group.ts";
import { failed } from "../../../framework/refusal.ts";
import { edited, resources } from "../../../../client/index.ts";
import { boundByController, isFullyBound, selectedNode } from "./claim-facts.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../api/core-v1/types.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { Client } from "../../../../client/index.ts";
import type { Reservation } from "../../../framework/plugin.ts";
import type { Refusal } from "../../../framework/refusal.ts";
import type { NodeVolumes } from "./node-volumes.ts";
import type { Claim, Volume, VolumeWorld } from "./volume-world.ts";

/**
 * Promises the volumes of a node to the pod's claims, writes that down before the pod is bound, and waits until the volume controller has
 * bound them. Undefined when there is nothing to do.
 */
export function reserveVolumes({ matched, provisioned }: NodeVolumes, nodeName: string, services: VolumeServices): Reservation | undefined {
  if (matched.length + provisioned.length === 0) return undefined;
  const { world } = services;
  const volumes = matched.filter(({ claim, volume }) => volume.spec?.claimRef?.uid !== claim.metadata.uid).map(({ claim, volume }) => promised(volume, claim));
  const claims = provisioned.filter(({ claim }) => claim.metadata.annotations?.[selectedNode] !== nodeName).map(({ claim }) => placed(claim, nodeName));
  for (const volume of volumes) world.promiseVolume(volume);
  for (const claim of claims) world.promiseClaim(claim);
  return {
    unreserve() {
      for (const { metadata } of volumes) world.withdrawVolume(metadata.name ?? "");
      for (const { metadata } of claims) world.withdrawClaim(metadata.namespace ?? "", metadata.name ?? "");
    },
    async preBind(signal) {
      const time = deadline(services.clock, services.bindTimeoutMs, signal);
      try {
        for (const volume of volumes) await services.client.update(resources.persistentVolumes, volume, { signal: time.signal });
        for (const claim of claims) await services.client.update(resources.persistentVolumeClaims, claim, { signal: time.signal });
        return await boundOrRefused({ matched, provisioned }, nodeName, { ...services, signal: time.signal });
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        return bindingFailed(isAbort(error, time.signal) ? "context deadline exceeded" : error instanceof Error ? error.message : String(error));
      } finally {
        time.cancel();
      }
    },
  };
}

export interface VolumeServices {
  readonly client: Client;
  readonly clock: Clock;
  readonly world: VolumeWorld;
  readonly bindTimeoutMs: number;
}

/** The volume controller's answer is awaited by looking, as in Kubernetes, once a second. */
const lookMs = 1000;

async function boundOrRefused(
  volumes: NodeVolumes,
  nodeName: string,
  { clock, world, signal }: VolumeServices & { signal: AbortSignal },
): Promise<Refusal | undefined> {
  for (;;) {
    const answer = stateOf(volumes, nodeName, world);
    if (answer === "bound") return undefined;
    if (answer !== "waiting") return answer;
    await sleep(clock, lookMs, signal);
  }
}

function stateOf({ matched, provisioned }: NodeVolumes, nodeName: string, world: VolumeWorld): "bound" | "waiting" | Refusal {
  let isBound = true;
  for (const { claim } of [...matched, ...provisioned]) {
    const current = world.claim(claim.metadata.namespace ?? "", claim.metadata.name ?? "");
    if (current === undefined) return bindingFailed(`failed to get PVC ${JSON.stringify(claim.metadata.name)} from cache`);
    if (!isFullyBound(current)) isBound = false;
  }
  for (const { claim } of provisioned) {
    const current = world.claim(claim.metadata.namespace ?? "", claim.metadata.name ?? "")!;
    const node = current.metadata.annotations?.[selectedNode];
    if (!isFullyBound(current) && node === undefined) return bindingFailed(`selectedNode annotation reset for PVC ${JSON.stringify(claim.metadata.name)}`);
    if (!isFullyBound(current) && node !== nodeName) return bindingFailed(`provisioning failed for PVC ${JSON.stringify(claim.metadata.name)}`);
  }
  return isBound ? "bound" : "waiting";
}

function bindingFailed(detail: string): Refusal {
  return failed(`running PreBind plugin "VolumeBinding": binding volumes: ${detail}`);
}

function promised(volume: Volume, claim: Claim): Volume {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  return edited<PersistentVolume>(volume, (draft) => {
    const spec = (draft.spec ??= {});
    if (spec.claimRef === undefined) draft.metadata.annotations = { ...draft.metadata.annotations, [boundByController]: "yes" };
    spec.claimRef = {
      kind: "PersistentVolumeClaim",
      apiVersion: "v1",
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
  });
}

function placed(claim: Claim, nodeName: string): Claim {
  return edited<PersistentVolumeClaim>(claim, (draft) => {
    draft.metadata.annotations = { ...draft.metadata.annotations, [selectedNode]: nodeName };
  });
}
