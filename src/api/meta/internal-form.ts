/**
 * Values as error texts and diffs print them. Kubernetes validates an internal version of its types, whose fields have Go names and
 * are all there: absent pointers, lists and maps as null, other absent values as zero. Types of the API machinery keep their JSON names.
 */
import { deepEqual } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import type { FieldSchema, Schema, StructSchema } from "../../apimachinery/schema.ts";
import { typeRegistry } from "../registry.ts";

/** `type` is the name of a struct in the registry without its group, such as `api.core.v1.PodSpec`. */
export function internalForm(type: string, value: unknown): JsonValue {
  const struct = typeRegistry.struct(type);
  if (struct === undefined) throw new Error(`the type ${JSON.stringify(type)} is not in the registry`);
  return value === undefined || value === null ? null : structForm(struct, value as JsonObject);
}

/** Whether two values are equal where absent, empty and zero are the same for what is no pointer. */
export function isSemanticallyEqual(type: string, left: unknown, right: unknown): boolean {
  return deepEqual(left, right) || JSON.stringify(withoutEmpty(internalForm(type, left))) === JSON.stringify(withoutEmpty(internalForm(type, right)));
}

function structForm(struct: StructSchema, value: JsonObject): JsonObject {
  if (struct.name.startsWith("apimachinery.")) return machineryForm(struct, value);
  const form: JsonObject = {};
  for (const field of struct.fields.values()) {
    const member = value[field.name];
    if (field.name === "metadata" && isMachinery(field.schema)) Object.assign(form, machineryForm(field.schema as StructSchema, (member ?? {}) as JsonObject));
    else if (!(isTopLevel(struct) && (field.name === "kind" || field.name === "apiVersion")))
      form[goFieldName(struct.goName, field.name)] = fieldForm(field, member);
  }
  return form;
}

/** Structs of the API machinery have JSON names, and leave out what is empty. */
function machineryForm(struct: StructSchema, value: JsonObject): JsonObject {
  const form: JsonObject = {};
  for (const field of struct.fields.values()) {
    const member = value[field.name];
    const isEmpty =
      member === undefined || member === null || member === "" || (typeof member === "object" && Object.keys(member).length === 0 && !field.isPointer);
    if (!isEmpty || !(field.omitEmpty || field.omitZero))
      form[field.name] = isEmpty ? fieldForm(field, member) : field.schema.shape === "scalar" ? member! : schemaForm(field.schema, member!);
  }
  return form;
}

function fieldForm(field: FieldSchema, value: JsonValue | undefined): JsonValue {
  if (value !== undefined && value !== null) return schemaForm(field.schema, value);
  if (field.isPointer || field.schema.shape === "list" || field.schema.shape === "map") return null;
  return field.schema.shape === "struct" ? structForm(field.schema, {}) : zeroOf(field.schema.scalar);
}

function schemaForm(schema: Schema, value: JsonValue): JsonValue {
  switch (schema.shape) {
    case "struct":
      return structForm(schema, value as JsonObject);
    case "list":
      return (value as JsonValue[]).map((item) => schemaForm(schema.items, item));
    case "map":
      return Object.fromEntries(
        Object.keys(value as JsonObject)
          .sort()
          .map((key) => [key, schemaForm(schema.values, (value as JsonObject)[key]!)]),
      );
    case "scalar":
      return schema.scalar === "quantity" ? String(value) : value;
  }
}

function zeroOf(scalar: string): JsonValue {
  if (scalar === "bool") return false;
  if (scalar === "quantity") return "0";
  if (scalar === "time" || scalar === "microTime" || scalar === "json" || scalar === "bytes") return null;
  return scalar === "string" ? "" : 0;
}

const isMachinery = (schema: Schema) => schema.shape === "struct" && schema.name.startsWith("apimachinery.");
const isTopLevel = (struct: StructSchema) => struct.gvk.length > 0;

/** Words that Go writes in capitals when a name begins with them. */
const initialisms =
  /^(api|aws|ca|cidrs?|cpu|csi|dns|fc|fs|gce|gmsa|grpc|http|id|ip|iqn|iscsi|json|nfs|os|pd|pkcs|pkix|rbd|ssl|tcp|tls|ttl|tty|uid|uri|url|wwids)(?=[A-Z0-9]|$)/;
const exceptions: Readonly<Record<string, string>> = {
  "AzureDiskVolumeSource.diskURI": "DataDiskURI",
  "GlusterfsVolumeSource.endpoints": "EndpointsName",
  "ISCSIVolumeSource.chapAuthDiscovery": "DiscoveryCHAPAuth",
  "ISCSIVolumeSource.chapAuthSession": "SessionCHAPAuth",
  "PodSpec.serviceAccount": "DeprecatedServiceAccount",
  "RBDVolumeSource.image": "RBDImage",
  "RBDVolumeSource.monitors": "CephMonitors",
  "RBDVolumeSource.pool": "RBDPool",
  "RBDVolumeSource.user": "RadosUser",
  cephfs: "CephFS",
  storageos: "StorageOS",
  wwids: "WWIDs",
  cidrs: "CIDRs",
};

function goFieldName(goType: string, name: string): string {
  const known = exceptions[`${goType}.${name}`] ?? exceptions[name];
  if (known !== undefined) return known;
  if (name.startsWith("seLinux")) return `SEL${name.slice(3)}`;
  const word = initialisms.exec(name)?.[1];
  return word === undefined ? name[0]!.toUpperCase() + name.slice(1) : word.toUpperCase() + name.slice(word.length);
}

/** Members that are empty lists or maps become null, as equality of Go's values sees them. */
function withoutEmpty(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmpty);
  const keys = Object.keys(value as JsonObject);
  return keys.length === 0 ? null : Object.fromEntries(keys.map((key) => [key, withoutEmpty((value as JsonObject)[key]!)]));
}
