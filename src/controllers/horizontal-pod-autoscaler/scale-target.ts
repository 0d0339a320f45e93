import { parseApiVersion } from "../../apimachinery/object.ts";
import { discoverResources } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { CrossVersionObjectReference } from "../../api/autoscaling-v2/types.ts";
import type { DiscoveredResource, ResourceType } from "../../client/index.ts";
import type { ControllerContext } from "../../operator/index.ts";

/** What an autoscaler sizes, through the scale subresource. Knows what the server offers, and asks anew for a kind it does not know. */
export class ScaleTargets {
  discovered: readonly DiscoveredResource[] = [];

  /** Throws what the conditions and events tell. */
  async read(namespace: string, reference: DeepReadonly<CrossVersionObjectReference>, { client, signal }: ControllerContext): Promise<ScaleTarget> {
    let resource = this.#find(reference);
    if (resource === undefined) {
      this.discovered = await discoverResources(client, { signal });
      resource = this.#find(reference);
    }
    const group = parseApiVersion(reference.apiVersion ?? "")?.group ?? "";
    if (resource === undefined)
      throw new Error(`unable to determine resource for scale target reference: no matches for kind "${reference.kind}" in group "${group}"`);
    try {
      const scale = await client.getSubresource<Scale>(resource, { namespace, name: reference.name, subresource: "scale" }, { signal });
      return { resource, scale };
    } catch (error) {
      throw new Error((error as Error).message.replace(/ \(get [^)]*\)$/, ""), { cause: error });
    }
  }

  async write({ resource, scale }: ScaleTarget, replicas: number, { client, signal }: ControllerContext): Promise<void> {
    const { namespace = "", name = "" } = scale.metadata;
    await client.updateSubresource(resource, { namespace, name, subresource: "scale" }, { ...scale, spec: { replicas } }, { signal });
  }

  #find({ apiVersion = "", kind }: DeepReadonly<CrossVersionObjectReference>): ResourceType | undefined {
    const wanted = parseApiVersion(apiVersion);
    return this.discovered.find(({ type }) => type.group === wanted?.group && type.version === wanted.version && type.kind === kind)?.type;
  }
}

export interface ScaleTarget {
  readonly resource: ResourceType;
  readonly scale: Scale;
}

/** autoscaling/v1 Scale. */
export interface Scale {
  readonly metadata: { readonly namespace?: string; readonly name?: string };
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}
