/** Admission: plugins in a fixed order, all mutating ones first, then all validating ones (documentation page "Admission Control"). */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RequestContext } from "../request-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface AdmissionRequest {
  readonly context: RequestContext;
  readonly operation: AdmissionOperation;
  readonly definition: ResourceDefinition;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The new object, in the version of the request; mutating plugins change it in place. Absent for deletions. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly isDryRun: boolean;
}

/** A plugin refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: ReadonlySet<AdmissionOperation>;
  mutate?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}

export class AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.plugins = plugins;
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.plugins) {
      if (plugin.mutate !== undefined && plugin.operations.has(request.operation)) await plugin.mutate(request);
    }
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.plugins) {
      if (plugin.validate !== undefined && plugin.operations.has(request.operation)) await plugin.validate(request);
    }
  }
}
