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

type Hook = (request: AdmissionRequest) => void | Promise<void>;

/** A plugin refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: ReadonlySet<AdmissionOperation>;
  /** Resources it looks at, as `group/resource` (`/pods` for the core group); absent: every one. */
  readonly resources?: ReadonlySet<string>;
  readonly mutate?: Hook;
  readonly validate?: Hook;
}

export class AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[];
  /** Hooks by operation and resource: most plugins care for one resource only, so that most requests meet few. */
  readonly #hooks = { mutate: new Map<string, readonly Hook[]>(), validate: new Map<string, readonly Hook[]>() };

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.plugins = plugins;
  }

  mutate(request: AdmissionRequest): Promise<void> {
    return this.#run("mutate", request);
  }

  validate(request: AdmissionRequest): Promise<void> {
    return this.#run("validate", request);
  }

  async #run(phase: "mutate" | "validate", request: AdmissionRequest): Promise<void> {
    for (const hook of this.#hooksFor(phase, request)) {
      const pending = hook(request);
      if (pending !== undefined) await pending;
    }
  }

  #hooksFor(phase: "mutate" | "validate", { operation, definition }: AdmissionRequest): readonly Hook[] {
    const resource = definitionKey(definition);
    const key = `${operation} ${resource}`;
    let hooks = this.#hooks[phase].get(key);
    if (hooks === undefined) {
      const interested = this.plugins.filter((plugin) => plugin.operations.has(operation) && (plugin.resources === undefined || plugin.resources.has(resource)));
      hooks = interested.flatMap((plugin) => {
        const hook = plugin[phase];
        return hook === undefined ? [] : [(admitted: AdmissionRequest) => hook.call(plugin, admitted)];
      });
      this.#hooks[phase].set(key, hooks);
    }
    return hooks;
  }
}

/** `group/resource`, as plugins name what they look at. */
export function definitionKey({ group, resource }: Pick<ResourceDefinition, "group" | "resource">): string {
  return `${group}/${resource}`;
}
