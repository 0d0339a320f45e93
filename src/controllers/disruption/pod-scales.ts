import { parseApiVersion } from "../../apimachinery/object.ts";
import { isNotFound } from "../../apimachinery/status.ts";
import { controllerOf, discoverResources, resources } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { DiscoveredResource, Lister, ResourceType } from "../../client/index.ts";
import type { ControllerContext } from "../../operator/index.ts";
import type { PodScales } from "./plan.ts";

/** The sizes of what manages pods: from caches for the kinds we know, by the scale subresource for all others that have one. */
export class PodScaleFinder {
  #discovered: readonly DiscoveredResource[] = [];

  async find(pods: readonly DeepReadonly<Pod>[], context: ControllerContext): Promise<PodScales> {
    const sizes = new Map<string, number>();
    const unmanaged: string[] = [];
    for (const pod of pods) {
      const owner = controllerOf(pod);
      const found = owner === undefined ? undefined : await this.#sizeOf(owner, pod.metadata.namespace ?? "", context);
      if (found === undefined) unmanaged.push(pod.metadata.name ?? "");
      else sizes.set(found.uid, found.size);
    }
    return { total: [...sizes.values()].reduce((total, size) => total + size, 0), unmanaged };
  }

  async #sizeOf(owner: DeepReadonly<OwnerReference>, namespace: string, context: ControllerContext): Promise<Sized | undefined> {
    const { caches } = context;
    const group = parseApiVersion(owner.apiVersion)?.group;
    if (group === "" && owner.kind === "ReplicationController") return sized(caches.of(resources.replicationControllers), owner, namespace);
    if (group === "apps" && owner.kind === "StatefulSet") return sized(caches.of(resources.statefulSets), owner, namespace);
    if (group !== "apps" || owner.kind !== "ReplicaSet") return this.#scaled(owner, namespace, context);
    const replicaSet = caches.of(resources.replicaSets).get(namespace, owner.name);
    const deployment = replicaSet && controllerOf(replicaSet);
    if (deployment?.kind === "Deployment") return sized(caches.of(resources.deployments), deployment, namespace);
    return sized(caches.of(resources.replicaSets), owner, namespace);
  }

  async #scaled(owner: DeepReadonly<OwnerReference>, namespace: string, { client, signal }: ControllerContext): Promise<Sized | undefined> {
    let found = this.#resource(owner);
    if (found === undefined) {
      this.#discovered = await discoverResources(client, { signal });
      found = this.#resource(owner);
    }
    if (found === undefined || !found.subresources.some(({ name }) => name === "scale")) return undefined;
    try {
      const scale = await client.getSubresource<Scale>(found.type, { namespace, name: owner.name, subresource: "scale" }, { signal });
      return scale.metadata?.uid === owner.uid ? { uid: owner.uid, size: scale.spec?.replicas ?? 0 } : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #resource({ apiVersion, kind }: DeepReadonly<OwnerReference>): { type: ResourceType; subresources: DiscoveredResource["subresources"] } | undefined {
    const group = parseApiVersion(apiVersion);
    return this.#discovered.find(({ type }) => type.group === group?.group && type.version === group.version && type.kind === kind);
  }
}

interface Sized {
  readonly uid: string;
  readonly size: number;
}
interface Scale {
  readonly metadata?: { readonly uid?: string };
  readonly spec?: { readonly replicas?: number };
}

function sized<T extends KubeObject & { spec?: { replicas?: number } }>(
  lister: Lister<T>,
  owner: DeepReadonly<OwnerReference>,
  namespace: string,
): Sized | undefined {
  const object = lister.get(namespace, owner.name) as DeepReadonly<{ metadata: { uid?: string }; spec?: { replicas?: number } }> | undefined;
  return object?.metadata.uid === owner.uid ? { uid: owner.uid, size: object.spec?.replicas ?? 1 } : undefined;
}
