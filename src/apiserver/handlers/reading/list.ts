/** GET of a collection: consistent, paged at a fixed revision, in any form (documentation page "API concepts"). */
import type { ApiResponse, ResponseBody } from "../../../apimachinery/request.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { apiVersionOf, qualifiedResource } from "../../../apimachinery/object.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { MessageEncoder } from "../../../apimachinery/protobuf/message-encoder.ts";
import type { ListSchema, StructSchema } from "../../../apimachinery/schema.ts";
import { typeRegistry } from "../../../api/registry.ts";
import type { Clock } from "../../../base/clock.ts";
import { Pacer } from "../../../base/pacer.ts";
import type { SortedMap } from "../../../base/sorted-map.ts";
import { timed } from "../../audit/latencies.ts";
import type { StoredObject } from "../../cache/stored-object.ts";
import type { Negotiated } from "../../http/negotiation.ts";
import { contentTypeOf, objectResponse } from "../../http/write-response.ts";
import { isServedAsStored, prepareVersions, readVersion } from "../../registry/versions/convert.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { RequestContext } from "../../request-context.ts";
import { decodeContinue, encodeContinue, expiredContinue } from "./continue-token.ts";
import { cborItems, longListItems, protobufItems, storedItems, writtenItems } from "./list-body.ts";
import { parseListOptions } from "./list-options.ts";
import type { ListOptions } from "./list-options.ts";
import { StatusError, tooManyRequestsError } from "../../../apimachinery/status.ts";
import { unreadableFault } from "../../cache/unreadable-value.ts";
import { UndecodableError } from "../../registry/storage/object-codec.ts";
import { goTypeOf, negotiateFor, printedAs } from "../respond.ts";
import { parseSelection } from "./selection.ts";
import type { Selection } from "./selection.ts";
import { listMetadataJson, parseIncludeObject, partialListOf, partialListSchema, partialOf, rowOf, sortedForTable, tableOf, tableSchema } from "./transform.ts";
import type { ListMetadata, TableOptions } from "./transform.ts";
import { futureVersionError } from "./versions.ts";

export interface ListResult {
  readonly items: readonly StoredObject[];
  readonly metadata: ListMetadata;
}

export async function handleList(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(
    context,
    definition.table === undefined ? ["PartialObjectMetadataList"] : ["Table", "PartialObjectMetadataList"],
    goTypeOf(definition, true),
  );
  try {
    const list = await readList(context, definition);
    return await timed(context, "serialize-response-object", () => respondList(context, definition, list, form));
  } catch (error) {
    throw error instanceof UndecodableError ? unreadableError(definition, error) : error;
  }
}

/** Upstream's cache cannot hold what cannot be read, and never gets ready. */
export function unreadableError(definition: ResourceDefinition, { key, fault, isSealed }: UndecodableError): StatusError {
  if (isSealed) return storageReadError(definition, key, fault);
  const found = `StorageError: corrupt object, Code: 7, Key: /registry${key}, ResourceVersion: 0, AdditionalErrorMsg: ${fault}`;
  return tooManyRequestsError(
    `storage is (re)initializing: failed to list <unspecified>: failed to read one or more ${definition.resource}.${definition.group} from the storage: ${found}`,
    1,
  );
}

/** What the storage could not open: encryption at rest without the right key. */
function storageReadError({ resource, group }: ResourceDefinition, key: string, fault: string): StatusError {
  const field = `/registry${key}`;
  const found = `StorageError: corrupt object, Code: 7, Key: ${field}, ResourceVersion: 0, AdditionalErrorMsg: ${fault}`;
  return new StatusError({
    message: `failed to read one or more ${qualifiedResource(resource, group)} from the storage: ${found}`,
    reason: "StorageReadError",
    details: { name: "list", ...(group !== "" && { group }), kind: resource, causes: [{ reason: "UnexpectedServerResponse", message: found, field }] },
    code: 500,
  });
}

/** Throws UndecodableError when something that the selection may show cannot be read. */
export function checkReadable({ storage }: ResourceDefinition, { keyPrefix }: Selection): void {
  const { cache } = storage!;
  for (const key of cache.unreadableKeys) if (key.startsWith(keyPrefix)) throw unreadableFault(cache.get(key)!.bytes);
}

/** Reads the collection that the request selects. Throws 400, 410, 422, 504. */
export async function readList(context: RequestContext, definition: ResourceDefinition): Promise<ListResult> {
  const { query, server } = context;
  const selection = parseSelection(context, definition);
  const options = parseListOptions(query);
  checkReadable(definition, selection);
  const cache = definition.storage!.cache;
  const current = Math.max(server.cacher.revision, cache.oldestRevision);
  const { revision, from } = startOf(options, current, selection);
  if (revision > current) throw futureVersionError(revision, current, context.server.settings.hasWatchCache);
  const state = options.isExact || options.continueToken !== "" ? cache.stateAt(revision) : cache.state;
  if (state === undefined)
    throw options.continueToken === "" ? expiredContinue(undefined) : expiredContinue(encodeContinue(-1, from.slice(selection.keyPrefix.length)));
  if (!selection.isEverything) await prepareVersions(definition, selection.candidates(state));
  const shownRevision = options.isExact || options.continueToken !== "" ? revision : current;
  const { items, metadata } = await page(state, selection, { from, limit: options.limit, revision: shownRevision, clock: server.clock });
  const { shardSelector } = selection;
  return { items, metadata: shardSelector === undefined ? metadata : { ...metadata, shardSelector } };
}

function startOf(options: ListOptions, current: number, selection: Selection): { revision: number; from: string } {
  if (options.continueToken !== "") {
    const token = decodeContinue(options.continueToken);
    return { revision: token.revision < 0 ? current : token.revision, from: selection.keyPrefix + token.start };
  }
  return { revision: options.revision ?? current, from: selection.keyPrefix };
}

async function page(
  state: SortedMap<StoredObject>,
  selection: Selection,
  options: { from: string; limit: number; revision: number; clock: Clock },
): Promise<ListResult> {
  const { from, limit, revision } = options;
  if (selection.onlyKey !== undefined) {
    const only = state.get(selection.onlyKey);
    return { items: only !== undefined && selection.matches(only) ? [only] : [], metadata: { resourceVersion: String(revision) } };
  }
  const items: StoredObject[] = [];
  let lastKey = "";
  const pacer = new Pacer(options.clock);
  let looked = 0;
  for (const [key, stored] of state.prefixed(selection.keyPrefix, from)) {
    if (limit > 0 && items.length === limit) return { items, metadata: morePages(state, selection, { lastKey, revision, nextKey: key }) };
    if (selection.matches(stored)) {
      items.push(stored);
      lastKey = key;
    }
    // Without a selector there is little to do for each.
    if ((!selection.isEverything || ++looked % 1024 === 0) && pacer.isDue()) await pacer.turn();
  }
  return { items, metadata: { resourceVersion: String(revision) } };
}

/** Metadata of a page with others behind it. How many remain is told only when no selector hides some of them. */
function morePages(state: SortedMap<StoredObject>, selection: Selection, page: { lastKey: string; revision: number; nextKey: string }): ListMetadata {
  const start = `${page.lastKey.slice(selection.keyPrefix.length)}\0`;
  const remaining = selection.isEverything ? state.countPrefixed(selection.keyPrefix) - state.rank(page.nextKey) + state.rank(selection.keyPrefix) : undefined;
  return {
    resourceVersion: String(page.revision),
    continueToken: encodeContinue(page.revision, start),
    ...(remaining !== undefined && { remainingItemCount: remaining }),
  };
}

export async function respondList(context: RequestContext, definition: ResourceDefinition, list: ListResult, form: Negotiated): Promise<ApiResponse> {
  const { clock, descriptions } = context.server;
  const { items, metadata } = list;
  await prepareVersions(definition, items);
  if (
    form.mediaType === "application/json" &&
    form.transform === undefined &&
    !form.isPretty &&
    items.every((stored) => isServedAsStored(definition, stored))
  ) {
    return listResponse(form.mediaType, storedItems(listHead(definition, metadata), items, !definition.isCustom, clock));
  }
  const { encodings } = context.server;
  if (form.mediaType === "application/vnd.kubernetes.protobuf" && form.transform === undefined && definition.codec === undefined) {
    const schema = typeRegistry.kind(definition.group, definition.version, definition.listKind);
    const messageAt = (index: number) => encodings.protobuf(definition, items[index]!);
    if (schema !== undefined)
      return listResponse(form.mediaType, await protobufItems(listHead(definition, metadata), { schema, count: items.length, messageAt }, clock));
  }
  const isLong = items.length > longListItems && !form.isPretty && form.mediaType !== "application/yaml";
  // A long list is parsed while it is sent: all at once, the objects of a large cluster would take gigabytes.
  const isParsedLater = isLong && definition.codec === undefined && definition.table?.printer.compare === undefined;
  const objects = isParsedLater ? [] : await parsed(definition, items, clock);
  const objectAt = (index: number) => objects[index] ?? readVersion(definition, items[index]!);
  switch (form.transform?.kind) {
    case "Table": {
      const options: TableOptions = {
        transform: form.transform,
        includeObject: parseIncludeObject(context.query),
        metadata,
        nowMs: clock.nowMs(),
        descriptions,
      };
      if (!isLong) return objectResponse(200, tableOf(definition, objects, options), form, tableSchema);
      const { rows: _, ...head } = tableOf(definition, [], options);
      const sorted = sortedForTable(definition, objects);
      const rows = { member: "rows", count: items.length, itemAt: (index: number) => rowOf(definition, sorted[index] ?? objectAt(index), options) };
      return form.mediaType === "application/cbor"
        ? listResponse("application/cbor", cborItems(head as JsonObject, { schema: tableSchema, ...rows }, clock))
        : listResponse("application/json", writtenItems(head as JsonObject, rows, clock));
    }
    case "PartialObjectMetadataList": {
      const { transform } = form;
      if (!isLong) return objectResponse(200, partialListOf(objects, transform, metadata), form, partialListSchema);
      const { items: _, ...head } = partialListOf([], transform, metadata);
      return longList(
        head as JsonObject,
        { count: items.length, itemAt: (index) => partialOf(objectAt(index), transform.version) },
        { form, schema: partialListSchema, clock },
      );
    }
    case "PartialObjectMetadata":
    case undefined: {
      const head = listHead(definition, metadata);
      const schema = typeRegistry.kind(definition.group, definition.version, definition.listKind);
      const itemAt = (index: number) => {
        encodings.count(definition, form.mediaType);
        return bareItem(printedAs(definition, objectAt(index), form), definition);
      };
      if (isLong) return longList(head, { count: items.length, itemAt }, { form, schema, clock });
      return objectResponse(200, { ...head, items: objects.map((_, index) => itemAt(index)) }, form, schema);
    }
  }
}

function listHead(definition: ResourceDefinition, metadata: ListMetadata): JsonObject {
  return {
    kind: definition.listKind,
    apiVersion: apiVersionOf(definition.group, definition.version),
    metadata: definition.isCustom ? { continue: "", ...listMetadataJson(metadata) } : listMetadataJson(metadata),
  };
}

async function longList(
  head: JsonObject,
  items: { readonly count: number; readonly itemAt: (index: number) => JsonObject },
  options: { readonly form: Negotiated; readonly schema: StructSchema | undefined; readonly clock: Clock },
): Promise<ApiResponse> {
  const { form, schema, clock } = options;
  if (form.mediaType === "application/cbor") return listResponse("application/cbor", cborItems(head, { member: "items", schema, ...items }, clock));
  if (form.mediaType !== "application/vnd.kubernetes.protobuf" || schema === undefined)
    return listResponse(contentTypeOf(form, schema), writtenItems(head, { member: "items", ...items }, clock));
  const encoder = new MessageEncoder();
  const itemSchema = (schema.fields.get("items")!.schema as ListSchema).items as StructSchema;
  const messageAt = (index: number) => encoder.encode(items.itemAt(index), itemSchema);
  return listResponse(form.mediaType, await protobufItems(head, { schema, count: items.count, messageAt }, clock));
}

function listResponse(contentType: string, body: ResponseBody): ApiResponse {
  return { status: 200, headers: { "content-type": contentType }, body };
}

async function parsed(definition: ResourceDefinition, items: readonly StoredObject[], clock: Clock): Promise<KubeObject[]> {
  const pacer = new Pacer(clock);
  const objects: KubeObject[] = [];
  for (const stored of items) {
    objects.push(readVersion(definition, stored));
    if (pacer.isDue()) await pacer.turn();
  }
  return objects;
}

/** Items of built-in lists carry no kind and apiVersion of their own. */
function bareItem(object: JsonObject, definition: ResourceDefinition): JsonObject {
  if (definition.isCustom) return object;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}
