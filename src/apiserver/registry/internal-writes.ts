/** Writes of the server itself: bootstrap objects, allocations. They pass through the registry like any client's, without HTTP. */
import { deepCopy } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import { isAlreadyExists, isNotFound, notFoundError } from "../../apimachinery/status.ts";
import type { RequestContext } from "../request-context.ts";
import type { ServerState } from "../server-state.ts";
import { createObject } from "./create.ts";
import { deleteObject } from "./delete.ts";
import { trackUpdate } from "./field-tracking.ts";
import type { WriteOptions } from "./options.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { updateObject } from "./update.ts";

export const serverUser: UserInfo = { username: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

const options: WriteOptions = { isDryRun: false, fieldManager: "", fieldValidation: "Ignore", force: false };

/** Creates `object`; true when it was made, false when its name is taken. `fieldManager` is noted as its author. */
export async function createInternally(server: ServerState, definition: ResourceDefinition, object: KubeObject, fieldManager = ""): Promise<boolean> {
  const namespace = object.metadata.namespace ?? "";
  const copy = deepCopy(object);
  definition.strategy?.defaults?.(copy, server.clock.nowMs());
  try {
    await createObject({ context: internalContext(server, definition, namespace), definition, namespace, options: { ...options, fieldManager }, object: copy });
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}

/** Replaces an object by what `change` makes of it; `change` returns undefined to leave it. */
export async function updateInternally(
  server: ServerState,
  definition: ResourceDefinition,
  target: { namespace: string; name: string; subresource?: string; fieldManager?: string },
  change: (old: KubeObject) => KubeObject | undefined,
): Promise<void> {
  const context = internalContext(server, definition, target.namespace);
  const subresource = target.subresource ?? "";
  const ownOptions = { ...options, fieldManager: target.fieldManager ?? "" };
  await updateObject({
    context,
    definition,
    namespace: target.namespace,
    name: target.name,
    subresource,
    options: ownOptions,
    createsMissing: false,
    async produce(old) {
      if (old === undefined) throw notFoundError(definition, target.name);
      const object = change(deepCopy(old)) ?? deepCopy(old);
      await trackUpdate({ context, definition, options: ownOptions }, object, old, subresource);
      return object;
    },
  });
}

/** Deletes an object; nothing happens when it is not there. */
export async function deleteInternally(server: ServerState, definition: ResourceDefinition, target: { namespace: string; name: string }): Promise<void> {
  const context = internalContext(server, definition, target.namespace);
  try {
    await deleteObject({
      context,
      definition,
      ...target,
      options: {
        isDryRun: false,
        gracePeriodSeconds: undefined,
        orphanDependents: undefined,
        propagationPolicy: undefined,
        preconditions: undefined,
        ignoresReadErrors: false,
      },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** A request of the server itself for a resource. */
export function internalContext(server: ServerState, definition: ResourceDefinition, namespace: string): RequestContext {
  const { group, version, resource } = definition;
  return {
    server,
    request: {
      method: "",
      path: "",
      query: "",
      headers: { "user-agent": "kube-apiserver" },
      body: new Uint8Array(),
      peer: { address: "", isHttp2: false },
      signal: server.tasks.signal,
    },
    query: new URLSearchParams(),
    auditId: "",
    info: {
      isResourceRequest: true,
      path: "",
      verb: "",
      apiPrefix: group === "" ? "api" : "apis",
      group,
      version,
      namespace,
      resource,
      subresource: "",
      name: "",
      parts: [resource],
      isLegacyWatch: false,
    },
    user: serverUser,
    warnings: new Set(),
    responseHeaders: {},
    signal: server.tasks.signal,
  };
}
