/** Tables and PartialObjectMetadata: other shapes of an answer (documentation page "API concepts: Receiving resources as Tables"). */
import type { JsonObject } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StatusError, badRequestError } from "../../../apimachinery/status.ts";
import { typeRegistry } from "../../../api/registry.ts";
import { describeColumn } from "../../openapi/column-descriptions.ts";
import type { Descriptions } from "../../openapi/descriptions.ts";
import type { ResourceDefinition, TableColumn } from "../../registry/resource-definition.ts";
import type { Transform } from "../../http/negotiation.ts";

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continueToken?: string;
  readonly remainingItemCount?: number;
  /** The selector of the shard that was asked for. */
  readonly shardSelector?: string;
}

export const tableSchema = typeRegistry.struct("apimachinery.pkg.apis.meta.v1.Table");
export const partialSchema = typeRegistry.struct("apimachinery.pkg.apis.meta.v1.PartialObjectMetadata");
export const partialListSchema = typeRegistry.struct("apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList");

/** What a row carries of its object: query `includeObject`. Throws 400. */
export function parseIncludeObject(query: URLSearchParams): "None" | "Metadata" | "Object" {
  const value = query.get("includeObject") ?? "";
  if (value === "") return "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequestError(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** Objects as rows; columns are described by what OpenAPI says of the fields that they show. */
export function tableOf(definition: ResourceDefinition, objects: readonly KubeObject[], options: TableOptions): JsonObject {
  const table = definition.table!;
  const sorted = sortedForTable(definition, objects);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.transform.version}`,
    metadata: listMetadataJson(options.metadata),
    columnDefinitions: options.withColumns === false ? null : table.columns.map((column) => columnOf(definition, column, options.descriptions)),
    rows: sorted.length === 0 && table.printer.isPlain === true ? null : sorted.map((object) => rowOf(definition, object, options)),
  };
}

/** Objects in the order of their rows. */
export function sortedForTable(definition: ResourceDefinition, objects: readonly KubeObject[]): readonly KubeObject[] {
  const { compare } = definition.table!.printer;
  return compare === undefined ? objects : [...objects].sort(compare);
}

export interface TableOptions {
  readonly transform: Transform;
  readonly includeObject: "None" | "Metadata" | "Object";
  readonly metadata: ListMetadata | undefined;
  readonly nowMs: number;
  readonly descriptions: Descriptions;
  /** False for the later events of a watch. */
  readonly withColumns?: boolean;
}

function columnOf(definition: ResourceDefinition, column: TableColumn, descriptions: Descriptions): JsonObject {
  const { name, type, format, priority } = column;
  const description = column.description ?? describeColumn(definition.kind === "Scale" ? "scale" : definition.resource, name, descriptions);
  return { name, type, format, description, priority };
}

export function rowOf(definition: ResourceDefinition, object: KubeObject, options: TableOptions): JsonObject {
  const { printer } = definition.table!;
  const row: JsonObject = { cells: [...printer.cells(object, { nowMs: options.nowMs })] };
  const conditions = printer.conditions?.(object) ?? [];
  if (conditions.length > 0) row["conditions"] = conditions.map((condition) => ({ ...condition }));
  switch (options.includeObject) {
    case "None":
      row["object"] = null;
      break;
    case "Metadata":
      row["object"] = partialOf(object, options.transform.version);
      break;
    case "Object":
      row["object"] = object as unknown as JsonObject;
      break;
  }
  return row;
}

/** Only the metadata of an object. */
export function partialOf(object: KubeObject, version: string): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata as JsonObject };
}

export function partialListOf(objects: readonly KubeObject[], transform: Transform, metadata: ListMetadata): JsonObject {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${transform.version}`,
    metadata: listMetadataJson(metadata),
    items: objects.map((object) => partialOf(object, transform.version)),
  };
}

export function listMetadataJson(metadata: ListMetadata | undefined): JsonObject {
  if (metadata === undefined) return {};
  return {
    resourceVersion: metadata.resourceVersion,
    ...(metadata.continueToken !== undefined && { continue: metadata.continueToken }),
    ...(metadata.remainingItemCount !== undefined && { remainingItemCount: metadata.remainingItemCount }),
    ...(metadata.shardSelector !== undefined && { shardInfo: { selector: metadata.shardSelector } }),
  };
}

/** 406 for a shape that this endpoint does not have. */
export function noTable(): StatusError {
  return new StatusError({ message: "the server could not serve this as a table", reason: "NotAcceptable", code: 406 });
}
