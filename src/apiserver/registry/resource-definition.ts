/** What the server knows of one resource in one version: discovery data, schema, strategy, where it is stored. */
import type { JsonObject } from "../../apimachinery/json.ts";
import type { StructSchema } from "../../apimachinery/schema.ts";
import type { KubeObject, GroupVersionKind } from "../../apimachinery/object.ts";
import type { KindStrategy } from "../../api/strategy.ts";
import type { TablePrinter } from "../../api/table.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { ObjectCodec } from "./storage/object-codec.ts";

export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  /** Plural name. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly isNamespaced: boolean;
  /** Made by a CustomResourceDefinition. */
  readonly isCustom: boolean;
  readonly verbs: ReadonlySet<string>;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: ReadonlyMap<string, SubresourceDefinition>;
  /** Schema of this version; undefined for custom resources that keep unknown fields everywhere. */
  readonly schema: StructSchema;
  /** Of custom resources: `openAPIV3Schema` of this version as its definition gives it; OpenAPI documents show it. */
  readonly openApiSchema?: JsonObject | undefined;
  /** Absent for resources that are never stored (reviews). */
  readonly strategy: KindStrategy | undefined;
  readonly storage: StorageDefinition | undefined;
  /** Between this version and the stored one; absent when they are the same. */
  readonly conversion?: VersionConversion;
  /** Reads and prints objects that have no Go type (custom resources). */
  readonly codec?: ObjectCodec;
  /** Aborts when the resource is no longer served in this form: its watches end. */
  readonly lifetime?: AbortSignal;
  /** Why no object may be created at present. */
  readonly creationRefusal?: string;
  /** Where a custom resource's `/scale` reads and writes: dotted paths. */
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly labelSelector: string | undefined };
  /** Warning that every request for this version gets. */
  readonly deprecationWarning?: string;
  readonly table: TableDefinition | undefined;
  /** Fields a fieldSelector may name, and the answer to another one. */
  readonly fieldLabels: FieldLabels;
}

export interface SubresourceDefinition {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: ReadonlySet<string>;
}

/** Shared by all versions of a kind. */
export interface StorageDefinition {
  /** Key prefix with a final slash, such as `/registry/pods/`. */
  readonly prefix: string;
  /** The version objects are stored in. */
  readonly gvk: GroupVersionKind;
  readonly schema: StructSchema;
  readonly cache: ResourceCache;
  /** Upstream stores it as JSON, which keeps empty lists: custom resources, their definitions, API services. */
  readonly isJson?: boolean;
  /** The version that discovery's hash is made of, where upstream stores another one than we do. */
  readonly hashedVersion?: string;
  /** Seconds after which the store forgets a value (events). */
  readonly ttlSeconds?: number;
}

export interface TableDefinition {
  readonly columns: readonly TableColumn[];
  readonly printer: TablePrinter;
}

/** meta.k8s.io/v1 TableColumnDefinition. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description?: string;
  readonly priority: number;
}

export interface FieldLabels {
  readonly accepted: ReadonlySet<string>;
  /** Refusal of a label that is not accepted. */
  refuse(label: string): string;
}

/** Conversion between the version served and the version stored. */
export interface VersionConversion {
  fromStored(object: KubeObject): KubeObject;
  toStored(object: KubeObject): KubeObject;
}

/** How errors name an object's kind: by the group it is stored in; a custom resource by what it says itself. */
export function errorKind(definition: ResourceDefinition, object: KubeObject): { group: string; kind: string } {
  if (definition.codec === undefined) return { group: definition.storage?.gvk.group ?? definition.group, kind: definition.kind };
  const { apiVersion = "", kind = "" } = object;
  return { group: apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "", kind };
}

/** Storage key of an object below its prefix: `namespace/name` or `name`. */
export function relativeKey(definition: ResourceDefinition, namespace: string, name: string): string {
  return definition.isNamespaced ? `${namespace}/${name}` : name;
}
