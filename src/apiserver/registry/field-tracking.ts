/** Keeps `metadata.managedFields` true to who wrote what (documentation page "Server-Side Apply"). */
import { isPending } from "../../base/eventual.ts";
import type { Eventual } from "../../base/eventual.ts";
import { formatTime } from "../../apimachinery/time.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { StatusError } from "../../apimachinery/status.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../apimachinery/object.ts";
import { updateManagedFields } from "../../apimachinery/managed-fields/manager.ts";
import type { RequestContext } from "../request-context.ts";
import type { WriteOptions } from "./options.ts";
import { printed } from "./storage/object-codec.ts";
import { withOtherVersions } from "./versions/other-versions.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

export interface TrackedWrite {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly options: Pick<WriteOptions, "fieldManager">;
}

/** Records that this request's manager wrote what differs between `oldObject` and `object`; changes `object.metadata.managedFields`. */
export function trackUpdate(write: TrackedWrite, object: KubeObject, oldObject: KubeObject | undefined, subresource: string): Eventual<void> {
  const { definition, context } = write;
  const input = {
    schema: definition.schema,
    oldObject: oldObject === undefined ? undefined : asJson(oldObject, definition),
    newObject: asJson(object, definition),
    manager: managerOf(context, write.options.fieldManager),
    apiVersion: apiVersionOf(definition.group, definition.version),
    subresource,
    nowText: formatTime(context.server.clock.nowMs()),
    resetFields: resetFieldsOf(definition, subresource),
  };
  const entries = withOtherVersions(definition, context.server.resources, (otherVersions) => updateManagedFields({ ...input, otherVersions }));
  if (!isPending(entries)) return setManagedFields(object, entries);
  return entries.then(
    (made) => setManagedFields(object, made),
    (error: unknown) => {
      if (!(error instanceof StatusError)) throw error;
      // A webhook cannot tell what other managers see of the change: nobody owns anything.
      setManagedFields(object, []);
    },
  );
}

export function setManagedFields(object: KubeObject, entries: readonly ManagedFieldsEntry[]): void {
  if (entries.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = [...entries];
}

/** Who writes: the option, else the first word of the user agent (at most 128 characters). */
export function managerOf(context: RequestContext, fieldManager: string): string {
  if (fieldManager !== "") return fieldManager;
  const agent = context.request.headers["user-agent"] ?? "";
  return agent.split("/")[0]!.slice(0, 128) || "unknown";
}

/** Fields that this path resets: nobody can own them through it. */
export function resetFieldsOf(definition: ResourceDefinition, subresource: string): readonly string[] {
  const strategy = definition.strategy;
  if (strategy === undefined) return [];
  if (subresource === "") return strategy.update.resetFields ?? (strategy.status === undefined ? noFields : statusOnly);
  const rules = subresource === "status" ? strategy.status : strategy.subresources?.[subresource];
  return rules?.resetFields ?? (subresource === "status" ? specOnly : noFields);
}

const noFields: readonly string[] = [];
const statusOnly: readonly string[] = ["status"];
const specOnly: readonly string[] = ["spec"];

/** The object in Go's form. An empty list of managed fields is kept: it says that the list was cleared. */
export function asJson(object: KubeObject, definition: ResourceDefinition): JsonObject {
  const json = printed(definition, object);
  if (object.metadata.managedFields?.length === 0) json["metadata"] = { ...(json["metadata"] as JsonObject), managedFields: [] };
  return json;
}
