/**
 * Types as data: what every generic machine (decoder, protobuf, patches, server-side apply, pruning, OpenAPI) reads.
 *
 * A registry is built once from the compact form in `src/api/data/types.json` and never changes. The compact form of a type is
 * `{fields: [[jsonName, typeExpression, flags, protobufNumber, extra?]…], gvk?, mapType?, unions?, format?}`, where a type expression is
 * `*T` (pointer), `[]T`, `map[K]T`, `bytes`, a Go scalar, `pkg.Name=T` (a named scalar, list or map) or the name of a type of the
 * registry, and `flags` are `e` (omitempty) and `z` (omitzero). Type names are OpenAPI's without the leading `io.k8s.`.
 */

export type Schema = StructSchema | MapSchema | ListSchema | ScalarSchema;

/** How list items are told apart (structural-schema extension x-kubernetes-list-type). */
export type ListType = "atomic" | "set" | "map";

export interface StructSchema {
  readonly shape: "struct";
  /** OpenAPI name without `io.k8s.`, such as `api.core.v1.Pod`. */
  readonly name: string;
  /** Go's type name, such as `Pod`: what decoding errors name. */
  readonly goName: string;
  /** By JSON name, in Go's order. */
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** `atomic` when server-side apply treats the whole struct as one value. */
  readonly isAtomic: boolean;
  /** Group, version and kind, for top-level types. */
  readonly gvk: ReadonlyArray<readonly [group: string, version: string, kind: string]>;
  readonly unions: readonly unknown[];
  /** Schema of members that `fields` does not declare (custom resources that preserve unknown fields); absent: there are none. */
  readonly unknownFields?: Schema;
}

export interface MapSchema {
  readonly shape: "map";
  readonly values: Schema;
  readonly isAtomic: boolean;
  readonly goName: string;
}

export interface ListSchema {
  readonly shape: "list";
  readonly items: Schema;
  /** Whether Go's items are pointers (matters for protobuf only). */
  readonly itemsArePointers: boolean;
  readonly listType: ListType;
  readonly listMapKeys: readonly string[];
  readonly goName: string;
}

/**
 * - `int32`, `int64`, … : integers (above 2^53 as `JSON.rawJSON`)
 * - `bytes`: base64 text; `time`, `microTime`: RFC 3339 text; `quantity`: text; `intOrString`: number or text; `duration`: Go duration text
 * - `json`: any JSON value, kept as it is (RawExtension, FieldsV1, apiextensions JSON)
 */
export type ScalarKind =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "float32"
  | "float64"
  | "bytes"
  | "time"
  | "microTime"
  | "quantity"
  | "intOrString"
  | "duration"
  | "json";

export interface ScalarSchema {
  readonly shape: "scalar";
  readonly scalar: ScalarKind;
  /** Go's type as decoding errors show it, such as `string`, `int32`, `v1.Protocol`. */
  readonly goName: string;
  /** For `json`: the special type behind it (`RawExtension`, `FieldsV1`, `JSON`, `JSONSchemaPropsOrArray`, …), or undefined. */
  readonly special?: string;
}

export interface FieldSchema {
  readonly name: string;
  readonly schema: Schema;
  readonly isPointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** Protobuf field number; 0 when the field has none. */
  readonly protobufNumber: number;
  /** Listed in OpenAPI's `required`. */
  readonly isRequired: boolean;
  /** OpenAPI enum values of the field or of its items. */
  readonly values: readonly string[];
  /** The embedded structs of Go's type that the field comes from, outermost first; JSON does not show them. */
  readonly embedded: readonly EmbeddedStruct[];
  readonly defaultValue?: unknown;
  readonly format?: string;
  /** Strategic merge patch: `merge`, `replace`, `retainKeys`. */
  readonly patchStrategy: readonly string[];
  readonly patchMergeKey?: string;
}

/** A Go struct whose fields stand in its parent's JSON object, but in a message of their own in protobuf. */
export interface EmbeddedStruct {
  readonly goName: string;
  /** Number of the message's field in its parent. */
  readonly protobufNumber: number;
}

/** A row of the compact form. */
export type CompactField = readonly [name: string, type: string, flags: string, protobufNumber: number, extra?: CompactExtra];
export interface CompactExtra {
  readonly listType?: ListType;
  readonly listMapKeys?: readonly string[];
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly mapType?: "atomic" | "granular";
  readonly enum?: readonly string[];
  readonly itemEnum?: readonly string[];
  readonly format?: string;
  readonly default?: unknown;
  readonly required?: boolean;
  readonly embedded?: ReadonlyArray<readonly [goName: string, protobufNumber: number]>;
}
export interface CompactType {
  readonly fields: readonly CompactField[];
  readonly gvk?: ReadonlyArray<readonly [string, string, string]>;
  readonly mapType?: "atomic" | "granular";
  readonly unions?: readonly unknown[];
}

const specials: ReadonlyMap<string, ScalarSchema> = new Map([
  ["apimachinery.pkg.apis.meta.v1.Time", { shape: "scalar", scalar: "time", goName: "v1.Time" }],
  ["apimachinery.pkg.apis.meta.v1.MicroTime", { shape: "scalar", scalar: "microTime", goName: "v1.MicroTime" }],
  ["apimachinery.pkg.apis.meta.v1.Duration", { shape: "scalar", scalar: "duration", goName: "v1.Duration" }],
  ["apimachinery.pkg.api.resource.Quantity", { shape: "scalar", scalar: "quantity", goName: "resource.Quantity" }],
  ["apimachinery.pkg.util.intstr.IntOrString", { shape: "scalar", scalar: "intOrString", goName: "intstr.IntOrString" }],
  ["apimachinery.pkg.runtime.RawExtension", { shape: "scalar", scalar: "json", goName: "runtime.RawExtension", special: "RawExtension" }],
  ["apimachinery.pkg.apis.meta.v1.FieldsV1", { shape: "scalar", scalar: "json", goName: "v1.FieldsV1", special: "FieldsV1" }],
  ...["JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"].map((name): [string, ScalarSchema] => [
    `apiextensions-apiserver.pkg.apis.apiextensions.v1.${name}`,
    { shape: "scalar", scalar: "json", goName: `v1.${name}`, special: name },
  ]),
]);

const goScalars: ReadonlyMap<string, ScalarKind> = new Map<string, ScalarKind>([
  ...(["string", "bool", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bytes"] as const).map((name): [string, ScalarKind] => [
    name,
    name,
  ]),
  ["int", "int64"],
  ["any", "json"],
  ["interface", "json"],
]);

/** Every type of the API by name. Structs are built on first use, since types refer to themselves (JSONSchemaProps). */
export class TypeRegistry {
  readonly #compact: Readonly<Record<string, CompactType>>;
  readonly #structs = new Map<string, StructSchema>();
  readonly #byKind = new Map<string, string>();

  constructor(compact: Readonly<Record<string, CompactType>>) {
    this.#compact = compact;
    for (const [name, type] of Object.entries(compact)) {
      for (const [group, version, kind] of type.gvk ?? []) this.#byKind.set(`${group}/${version}/${kind}`, name);
    }
  }

  get names(): string[] {
    return Object.keys(this.#compact);
  }

  /** The struct called `name` (OpenAPI's name without `io.k8s.`), or undefined. */
  struct(name: string): StructSchema | undefined {
    const known = this.#structs.get(name);
    if (known !== undefined) return known;
    const compact = this.#compact[name];
    if (compact === undefined) return undefined;
    const fields = new Map<string, FieldSchema>();
    const struct: StructSchema = {
      shape: "struct",
      name,
      goName: name.slice(name.lastIndexOf(".") + 1),
      fields,
      isAtomic: compact.mapType === "atomic",
      gvk: compact.gvk ?? [],
      unions: compact.unions ?? [],
    };
    this.#structs.set(name, struct);
    for (const row of compact.fields) fields.set(row[0], this.#field(row));
    return struct;
  }

  /** The struct of a group, version and kind, or undefined. */
  kind(group: string, version: string, kind: string): StructSchema | undefined {
    const name = this.#byKind.get(`${group}/${version}/${kind}`);
    return name === undefined ? undefined : this.struct(name);
  }

  #field([name, type, flags, protobufNumber, extra = {}]: CompactField): FieldSchema {
    const isPointer = type.startsWith("*");
    return {
      name,
      schema: this.#parse(isPointer ? type.slice(1) : type, extra),
      isPointer,
      omitEmpty: flags.includes("e"),
      omitZero: flags.includes("z"),
      protobufNumber,
      isRequired: extra.required === true,
      embedded: (extra.embedded ?? []).map(([goName, protobufNumber]) => ({ goName, protobufNumber })),
      values: extra.enum ?? extra.itemEnum ?? [],
      patchStrategy: extra.patchStrategy?.split(",") ?? [],
      ...(extra.default !== undefined && { defaultValue: extra.default }),
      ...(extra.format !== undefined && { format: extra.format }),
      ...(extra.patchMergeKey !== undefined && { patchMergeKey: extra.patchMergeKey }),
    };
  }

  #parse(type: string, extra: CompactExtra, goName = displayName(type)): Schema {
    const special = specials.get(type);
    if (special !== undefined) return special;
    const scalar = goScalars.get(type);
    if (scalar !== undefined) return { shape: "scalar", scalar, goName: scalar === "bytes" ? "[]uint8" : goName };
    if (type.startsWith("[]")) {
      const itemsArePointers = type.startsWith("[]*");
      const items = this.#parse(type.slice(itemsArePointers ? 3 : 2), {});
      return { shape: "list", items, itemsArePointers, listType: extra.listType ?? "atomic", listMapKeys: extra.listMapKeys ?? [], goName };
    }
    if (type.startsWith("map[")) {
      const values = this.#parse(type.slice(type.indexOf("]") + 1), {});
      return { shape: "map", values, isAtomic: extra.mapType === "atomic", goName };
    }
    const named = type.indexOf("=");
    if (named > 0) return this.#parse(type.slice(named + 1), extra, displayName(type.slice(0, named)));
    const struct = this.struct(type);
    if (struct === undefined) throw new Error(`the type ${JSON.stringify(type)} is not in the registry`);
    // A field may say otherwise than its type.
    if (extra.mapType === undefined || (extra.mapType === "atomic") === struct.isAtomic) return struct;
    return { ...struct, isAtomic: extra.mapType === "atomic" };
  }
}

/** `api.core.v1.Protocol` → `v1.Protocol`; `[]api.core.v1.EnvVar` → `[]v1.EnvVar`: as Go prints a type. */
function displayName(type: string): string {
  return type
    .replace(/=.*$/, "")
    .replace(/\bbytes$/, "[]uint8")
    .replace(/[\w.-]+\.([\w-]+\.\w+)/g, "$1");
}
