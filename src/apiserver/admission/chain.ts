/** Admission: plugins in a fixed order, all mutating ones first, then all validating ones (documentation page "Admission Control"). */
import { followedBy } from "../../base/eventual.ts";
import type { Eventual } from "../../base/eventual.ts";
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
  /** Kept by mutating policies and webhooks, whose changes make the mutating plugins look a second time. */
  reinvocation?: Reinvocation;
}

export interface Reinvocation {
  isNeeded: boolean;
  /** 0, then 1 for the second time. */
  round: number;
  /** Policies and webhooks that were asked since the last change and want to be asked again after the next. */
  readonly earlier: Set<object>;
  /** Those to ask again in the second round. */
  readonly again: Set<object>;
}

/** The request's, made when a plugin first needs it. */
export function reinvocationOf(request: AdmissionRequest): Reinvocation {
  return (request.reinvocation ??= { isNeeded: false, round: 0, earlier: new Set(), again: new Set() });
}

/** After a change: whoever has seen the object before and wants to see it again, does. */
export function noteChange(reinvocation: Reinvocation): void {
  for (const earlier of reinvocation.earlier) reinvocation.again.add(earlier);
  reinvocation.earlier.clear();
  reinvocation.isNeeded = true;
}

type Hook = (request: AdmissionRequest) => Eventual<void>;

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

  mutate(request: AdmissionRequest): Eventual<void> {
    return followedBy(this.#run("mutate", request), () => {
      if (request.reinvocation?.isNeeded !== true) return;
      request.reinvocation.round = 1;
      return this.#run("mutate", request);
    });
  }

  validate(request: AdmissionRequest): Eventual<void> {
    return this.#run("validate", request);
  }

  /** Both for a connection to an object's subresource. */
  async connect(target: Pick<AdmissionRequest, "context" | "definition" | "subresource" | "namespace" | "name">): Promise<void> {
    const request: AdmissionRequest = { ...target, operation: "CONNECT", object: undefined, oldObject: undefined, isDryRun: false };
    await this.mutate(request);
    await this.validate(request);
  }

  /** Most hooks need not wait for anything. */
  #run(phase: "mutate" | "validate", request: AdmissionRequest): Eventual<void> {
    const hooks = this.#hooksFor(phase, request);
    for (let index = 0; index < hooks.length; index++) {
      const pending = hooks[index]!(request);
      if (pending !== undefined) return pending.then(() => inTurn(hooks.slice(index + 1), request));
    }
  }

  #hooksFor(phase: "mutate" | "validate", { operation, definition }: AdmissionRequest): readonly Hook[] {
    const resource = definitionKey(definition);
    const key = `${operation} ${resource}`;
    let hooks = this.#hooks[phase].get(key);
    if (hooks === undefined) {
      const interested = this.plugins.filter(
        (plugin) => plugin.operations.has(operation) && (plugin.resources === undefined || plugin.resources.has(resource)),
      );
      hooks = interested.flatMap((plugin) => {
        const hook = plugin[phase];
        return hook === undefined ? [] : [(admitted: AdmissionRequest) => hook.call(plugin, admitted)];
      });
      this.#hooks[phase].set(key, hooks);
    }
    return hooks;
  }
}

async function inTurn(hooks: readonly Hook[], request: AdmissionRequest): Promise<void> {
  for (const hook of hooks) await hook(request);
}

/** `group/resource`, as plugins name what they look at. */
export function definitionKey({ group, resource }: Pick<ResourceDefinition, "group" | "resource">): string {
  return `${group}/${resource}`;
}
