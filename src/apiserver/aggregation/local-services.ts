/**
 * Keeps an APIService for every group-version that definitions add: made, put right after changes, and deleted with the version. Others are
 * left alone. Driven by the caches of definitions and APIServices; writes one by one in a background task.
 */
import { PendingNames } from "../../base/pending-names.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import type { APIService } from "../../api/apiregistration-v1/types.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { parseStored } from "../cache/stored-object.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import { createInternally, deleteInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ServerState } from "../server-state.ts";
import { customPriorities } from "./api-service-index.ts";

const managedLabel = "kube-aggregator.kubernetes.io/automanaged";

export class LocalServices {
  readonly #server: ServerState;
  readonly #apiServices: ResourceDefinition;
  readonly #definitions: ResourceCache;
  /** Names of APIServices to look at, in order. */
  readonly #pending = new PendingNames();

  constructor(server: ServerState) {
    this.#server = server;
    this.#apiServices = server.resources.find("apiregistration.k8s.io", "v1", "apiservices")!;
    this.#definitions = server.resources.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")!.storage!.cache;
  }

  start(): void {
    this.#definitions.listen(({ object, previous }) => {
      for (const stored of [object, previous]) if (stored !== undefined) this.#enqueueVersions(stored);
    });
    const cache = this.#apiServices.storage!.cache;
    cache.listen(({ object, previous }) => {
      if (isManaged(cache.parse(object)) || (previous !== undefined && isManaged(cache.parse(previous)))) this.#pending.add(object.key);
    });
    for (const [, stored] of this.#definitions.state.prefixed("")) this.#enqueueVersions(stored);
    for (const [name, stored] of cache.state.prefixed("")) if (isManaged(cache.parse(stored))) this.#pending.add(name);
    this.#server.tasks.start("local APIServices", (signal) => this.#pending.run(signal, (name) => this.#reconcile(name)));
  }

  #enqueueVersions(stored: StoredObject): void {
    const { spec } = definitionOf(stored);
    for (const { name } of spec.versions ?? []) this.#pending.add(`${name}.${spec.group}`);
  }

  async #reconcile(name: string): Promise<void> {
    const cache = this.#apiServices.storage!.cache;
    const stored = cache.get(name);
    const action = planLocalService(name, stored && (cache.parse(stored) as unknown as APIService), this.#isServed(name));
    try {
      if (action.kind === "create") await createInternally(this.#server, this.#apiServices, action.object as unknown as KubeObject);
      if (action.kind === "restore") await updateInternally(this.#server, this.#apiServices, { namespace: "", name }, (old) => ({ ...old, spec: action.spec }));
      if (action.kind === "delete") await deleteInternally(this.#server, this.#apiServices, { namespace: "", name });
    } catch (error) {
      // Somebody else wrote it meanwhile: its event brings us back.
      if (!isConflict(error) && !isNotFound(error)) this.#server.log.warn("Could not keep a local APIService", { name, error });
    }
  }

  #isServed(name: string): boolean {
    const { group, version } = splitName(name);
    const suffix = `.${group}`;
    for (const [key, stored] of this.#definitions.state.prefixed("")) {
      if (!key.endsWith(suffix)) continue;
      const { spec } = definitionOf(stored);
      if (spec.group === group && (spec.versions ?? []).some((served) => served.name === version && served.served)) return true;
    }
    return false;
  }
}

export type LocalServiceAction =
  | { readonly kind: "create"; readonly object: APIService }
  | { readonly kind: "restore"; readonly spec: APIService["spec"] }
  | { readonly kind: "delete" }
  | { readonly kind: "none" };

/** What is to be done about the APIService called `name`. Those that somebody else made are not touched. */
export function planLocalService(name: string, current: APIService | undefined, isServed: boolean): LocalServiceAction {
  if (current !== undefined && !isManaged(current)) return { kind: "none" };
  if (!isServed) return { kind: current === undefined ? "none" : "delete" };
  const spec = { ...splitName(name), groupPriorityMinimum: customPriorities.group, versionPriority: customPriorities.version };
  if (current === undefined)
    return {
      kind: "create",
      object: { kind: "APIService", apiVersion: "apiregistration.k8s.io/v1", metadata: { name, labels: { [managedLabel]: "true" } }, spec },
    };
  return deepEqual(current.spec, spec) ? { kind: "none" } : { kind: "restore", spec };
}

/** `VERSION.GROUP`. */
function splitName(name: string): { group: string; version: string } {
  const dot = name.indexOf(".");
  return { group: name.slice(dot + 1), version: name.slice(0, dot) };
}

function isManaged({ metadata }: Pick<APIService, "metadata"> | Pick<KubeObject, "metadata">): boolean {
  return metadata.labels?.[managedLabel] === "true";
}

/** Parsed anew each time: definitions are large, and rarely looked at. */
function definitionOf(stored: StoredObject): CustomResourceDefinition {
  return parseStored(stored) as unknown as CustomResourceDefinition;
}
