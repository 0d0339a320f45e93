/** The versions of a kind as managed fields see them: an object of one version in the form of another. */
import type { Eventual } from "../../../base/eventual.ts";
import { canonicalize } from "../../../apimachinery/encode/canonical.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import type { OtherVersions } from "../../../apimachinery/managed-fields/versions.ts";
import { parseApiVersion } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ResourceDefinition } from "../resource-definition.ts";
import type { ResourceTable } from "../resource-table.ts";

/** Runs a pure step that sees objects in the versions beside the one that `definition` serves. It may be begun anew while a webhook converts. */
export function withOtherVersions<T>(definition: ResourceDefinition, resources: ResourceTable, step: (versions: OtherVersions) => T): Eventual<T> {
  return definition.codec === undefined ? step(builtInVersions(definition, resources)) : definition.codec.withOtherVersions(step);
}

function builtInVersions(definition: ResourceDefinition, resources: ResourceTable): OtherVersions {
  return (apiVersion) => {
    const version = parseApiVersion(apiVersion);
    const other = version === undefined ? undefined : resources.byKind(version.group, version.version, definition.kind);
    if (other === undefined || other.storage?.prefix !== definition.storage?.prefix) return undefined;
    return {
      schema: other.schema,
      convert: (object) => between(definition, other, object),
      convertBack: (object) => between(other, definition, object),
      keepsUnapplied: true,
    };
  };
}

function between(from: ResourceDefinition, to: ResourceDefinition, object: JsonObject): JsonObject {
  const copy = deepCopy(object) as unknown as KubeObject;
  const stored = from.conversion?.toStored(copy) ?? copy;
  return canonicalize((to.conversion?.fromStored(stored) ?? stored) as unknown as JsonObject, to.schema);
}
