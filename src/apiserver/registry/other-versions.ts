/** The versions of a kind as managed fields see them: an object of one version in the form of another. */
import { canonicalize } from "../../apimachinery/encode/canonical.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { deepCopy } from "../../apimachinery/json.ts";
import type { OtherVersions } from "../../apimachinery/managed-fields/versions.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import type { ResourceTable } from "./resource-table.ts";

/** The versions beside the one that `definition` serves. */
export function otherVersionsOf(definition: ResourceDefinition, resources: ResourceTable): OtherVersions {
  if (definition.codec !== undefined) return definition.codec.otherVersions;
  return (apiVersion) => {
    const version = parseApiVersion(apiVersion);
    const other = version === undefined ? undefined : resources.byKind(version.group, version.version, definition.kind);
    if (other === undefined || other.storage?.prefix !== definition.storage?.prefix) return undefined;
    return { schema: other.schema, convert: (object) => between(definition, other, object), convertBack: (object) => between(other, definition, object), keepsUnapplied: true };
  };
}

function between(from: ResourceDefinition, to: ResourceDefinition, object: JsonObject): JsonObject {
  const copy = deepCopy(object) as unknown as KubeObject;
  const stored = from.conversion?.toStored(copy) ?? copy;
  return canonicalize((to.conversion?.fromStored(stored) ?? stored) as unknown as JsonObject, to.schema);
}
