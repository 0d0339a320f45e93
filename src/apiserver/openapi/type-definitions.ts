/** Schemas of the built-in types as OpenAPI v2 and v3 write them, from the compact form of the type data (apimachinery/schema.ts). */
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";
import type { CompactExtra, CompactField, CompactType } from "../../apimachinery/schema.ts";
import type { Descriptions } from "./descriptions.ts";

export interface TypeDefinitionOptions {
  readonly types: Readonly<Record<string, CompactType>>;
  readonly descriptions: Descriptions;
  /** Feature gate OpenAPIEnums. */
  readonly hasEnums: boolean;
}

/** - v2: references stand beside other members; no defaults. - v3: a described reference is wrapped in `allOf`; defaults. */
export type Dialect = "v2" | "v3";

export class TypeDefinitions {
  readonly #options: TypeDefinitionOptions;

  constructor(options: TypeDefinitionOptions) {
    this.#options = options;
  }

  /** The definition of a type (its name without `io.k8s.`). Throws when there is no such type. */
  definition(name: string, dialect: Dialect): JsonObject {
    const description = this.#options.descriptions.type(name);
    const head: JsonObject = description === "" ? {} : { description };
    const special = specialTypes.get(name);
    if (special !== undefined) return { ...head, ...special[dialect] };
    const type = this.#options.types[name] ?? furtherTypes[name];
    if (type === undefined) throw new Error(`the type ${JSON.stringify(name)} has no definition`);
    const required = type.fields.filter(([, , , , extra]) => extra?.required === true).map(([field]) => field);
    const properties: JsonObject = {};
    for (const row of [...type.fields].sort(byName)) properties[row[0]] = this.#property(name, row, dialect);
    return {
      ...head,
      type: "object",
      ...(required.length > 0 && { required }),
      ...(type.fields.length > 0 && { properties }),
      ...(type.gvk !== undefined && { "x-kubernetes-group-version-kind": type.gvk.map(([group, version, kind]) => ({ group, kind, version })) }),
      ...(type.mapType !== undefined && { "x-kubernetes-map-type": type.mapType }),
      ...(type.unions !== undefined && { "x-kubernetes-unions": type.unions as JsonValue }),
    };
  }

  #property(owner: string, [field, expression, flags, , extra = {}]: CompactField, dialect: Dialect): JsonObject {
    const description = this.#options.descriptions.field(owner, field);
    const schema = this.#schema(expression, extra, dialect);
    const defaultValue =
      dialect === "v2" ? undefined : (explicitDefaults[`${owner}.${field}`] ?? extra.default ?? zeroDefault(expression, flags, this.#options.types));
    const members: JsonObject = {
      ...(description !== "" && { description }),
      ...(defaultValue !== undefined && { default: defaultValue as JsonValue }),
      ...listAndPatchExtensions(extra),
    };
    return withMembers(schema, members, dialect);
  }

  #schema(expression: string, extra: CompactExtra, dialect: Dialect): JsonObject {
    const type = expression.replace(/^\*/, "");
    if (type.startsWith("[]"))
      return { type: "array", items: this.#schema(type.slice(2), { ...(extra.itemEnum !== undefined && { enum: extra.itemEnum }) }, dialect) };
    if (type.startsWith("map[")) return { type: "object", additionalProperties: this.#schema(type.slice(type.indexOf("]") + 1), {}, dialect) };
    const named = type.indexOf("=");
    if (named > 0) return this.#schema(type.slice(named + 1), extra, dialect);
    const scalar = scalarTypes[type];
    if (scalar !== undefined) return { ...scalar, ...(extra.enum !== undefined && this.#options.hasEnums && { enum: [...extra.enum] }) };
    return { $ref: referenceTo(type, dialect) };
  }
}

/** The reference to a built-in type. */
export function referenceTo(type: string, dialect: Dialect): string {
  return `${referencePrefix[dialect]}io.k8s.${type}`;
}

export const referencePrefix: Readonly<Record<Dialect, string>> = { v2: "#/definitions/", v3: "#/components/schemas/" };

/** Members beside a schema: in v3 nothing may stand beside a reference, which is wrapped. */
export function withMembers(schema: JsonObject, members: JsonObject, dialect: Dialect): JsonObject {
  if (Object.keys(members).length === 0) return schema;
  if (dialect === "v3" && "$ref" in schema) return { ...members, allOf: [schema] };
  return { ...members, ...schema };
}

function listAndPatchExtensions(extra: CompactExtra): JsonObject {
  return {
    ...(extra.listMapKeys !== undefined && { "x-kubernetes-list-map-keys": [...extra.listMapKeys] }),
    ...(extra.listType !== undefined && { "x-kubernetes-list-type": extra.listType }),
    ...(extra.mapType !== undefined && { "x-kubernetes-map-type": extra.mapType }),
    ...(extra.patchMergeKey !== undefined && { "x-kubernetes-patch-merge-key": extra.patchMergeKey }),
    ...(extra.patchStrategy !== undefined && { "x-kubernetes-patch-strategy": extra.patchStrategy }),
  };
}

/** What Go's zero value makes of a field that is always there: structs always have a default, scalars unless they are left out when empty. */
function zeroDefault(expression: string, flags: string, types: Readonly<Record<string, CompactType>>): JsonValue | undefined {
  if (/^(\*|\[\]|map\[)/.test(expression)) return undefined;
  const type = expression.replace(/^.*=/, "");
  const scalar = scalarTypes[type];
  if (scalar === undefined) return specialTypes.has(type) || types[type] === undefined ? undefined : {};
  if (flags !== "" || /^(\[\]|map\[)/.test(type)) return undefined;
  return zeroValues[scalar["type"] as string];
}

const zeroValues: Readonly<Record<string, JsonValue>> = { string: "", integer: 0, number: 0, boolean: false };

const integer = (format: string): JsonObject => ({ type: "integer", format });
const scalarTypes: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int: integer("int32"),
  int32: integer("int32"),
  int64: integer("int64"),
  uint8: integer("byte"),
  uint16: integer("int32"),
  uint32: integer("int64"),
  uint64: integer("int64"),
  float32: { type: "number", format: "float" },
  float64: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
};

const same = (schema: JsonObject) => ({ v2: schema, v3: schema });
const dateTime = same({ type: "string", format: "date-time" });
const anything = same({});
/** Types whose JSON is not that of their Go struct. */
const specialTypes: ReadonlyMap<string, Readonly<Record<Dialect, JsonObject>>> = new Map([
  ["apimachinery.pkg.apis.meta.v1.Time", dateTime],
  ["apimachinery.pkg.apis.meta.v1.MicroTime", dateTime],
  ["apimachinery.pkg.apis.meta.v1.Duration", same({ type: "string" })],
  ["apimachinery.pkg.api.resource.Quantity", { v2: { type: "string" }, v3: { oneOf: [{ type: "string" }, { type: "number" }] } }],
  [
    "apimachinery.pkg.util.intstr.IntOrString",
    { v2: { type: "string", format: "int-or-string" }, v3: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] } },
  ],
  ["apimachinery.pkg.runtime.RawExtension", same({ type: "object" })],
  ["apimachinery.pkg.apis.meta.v1.FieldsV1", same({ type: "object" })],
  ["apimachinery.pkg.apis.meta.v1.Patch", same({ type: "object" })],
  ...["JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"].map(
    (name) => [`apiextensions-apiserver.pkg.apis.apiextensions.v1.${name}`, anything] as const,
  ),
]);

/** Types that are in no API group. */
const versionFields = [
  "major",
  "minor",
  "emulationMajor",
  "emulationMinor",
  "minCompatibilityMajor",
  "minCompatibilityMinor",
  "gitVersion",
  "gitCommit",
  "gitTreeState",
  "buildDate",
  "goVersion",
  "compiler",
  "platform",
];
const furtherTypes: Readonly<Record<string, CompactType>> = {
  "apimachinery.pkg.version.Info": {
    fields: versionFields.map((name): CompactField =>
      /^(emulation|minCompatibility)/.test(name) ? [name, "string", "e", 0] : [name, "string", "", 0, { required: true }],
    ),
  },
};

/** Defaults that the API declares for fields that may be absent. */
const explicitDefaults: Readonly<Record<string, JsonValue>> = {
  "api.autoscaling.v1.ScaleSpec.replicas": 0,
  "api.core.v1.AzureDiskVolumeSource.cachingMode": "ReadWrite",
  "api.core.v1.AzureDiskVolumeSource.fsType": "ext4",
  "api.core.v1.AzureDiskVolumeSource.kind": "Shared",
  "api.core.v1.AzureDiskVolumeSource.readOnly": false,
  "api.core.v1.ISCSIPersistentVolumeSource.iscsiInterface": "default",
  "api.core.v1.ISCSIVolumeSource.iscsiInterface": "default",
  "api.core.v1.RBDPersistentVolumeSource.keyring": "/etc/ceph/keyring",
  "api.core.v1.RBDPersistentVolumeSource.pool": "rbd",
  "api.core.v1.RBDPersistentVolumeSource.user": "admin",
  "api.core.v1.RBDVolumeSource.keyring": "/etc/ceph/keyring",
  "api.core.v1.RBDVolumeSource.pool": "rbd",
  "api.core.v1.RBDVolumeSource.user": "admin",
  "api.core.v1.ScaleIOPersistentVolumeSource.fsType": "xfs",
  "api.core.v1.ScaleIOPersistentVolumeSource.storageMode": "ThinProvisioned",
  "api.core.v1.ScaleIOVolumeSource.fsType": "xfs",
  "api.core.v1.ScaleIOVolumeSource.storageMode": "ThinProvisioned",
};

const byName = (left: CompactField, right: CompactField) => (left[0] < right[0] ? -1 : 1);
