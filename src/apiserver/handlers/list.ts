/** GET of a collection: consistent, paged at a fixed revision, in any form (documentation page "API concepts"). */
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { apiVersionOf } from "../../apimachinery/object.ts";
import { typeRegistry } from "../../api/registry.ts";
import type { SortedMap } from "../../base/sorted-map.ts";
import type { StoredObject } from "../cache/stored-object.ts";
import type { Negotiated } from "../http/negotiation.ts";
import { objectResponse } from "../http/write-response.ts";
import { isServedAsStored, readVersion } from "../registry/convert.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { RequestContext } from "../request-context.ts";
import { decodeContinue, encodeContinue, expiredContinue } from "./continue-token.ts";
import { parseListOptions } from "./list-options.ts";
import type { ListOptions } from "./list-options.ts";
import { tooManyRequestsError } from "../../apimachinery/status.ts";
import { UndecodableError } from "../registry/object-codec.ts";
import { goTypeOf, negotiateFor, printedAs } from "./respond.ts";
import { parseSelection } from "./selection.ts";
import type { Selection } from "./selection.ts";
import { listMetadataJson, parseIncludeObject, partialListOf, partialListSchema, tableOf, tableSchema } from "./transform.ts";
import type { ListMetadata } from "./transform.ts";
import { futureVersionError } from "./versions.ts";

export interface ListResult {
  readonly items: readonly StoredObject[];
  readonly metadata: ListMetadata;
}

export async function handleList(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, definition.table === undefined ? ["PartialObjectMetadataList"] : ["Table", "PartialObjectMetadataList"], goTypeOf(definition, true));
  try {
    const list = await readList(context, definition);
    return respondList(context, definition, list, form);
  } catch (error) {
    // Upstream's cache cannot hold such objects, and never gets ready.
    if (error instanceof UndecodableError) throw tooManyRequestsError("storage is (re)initializing", 1);
    throw error;
  }
}

/** Reads the collection that the request selects. Throws 400, 410, 422, 504. */
export async function readList(context: RequestContext, definition: ResourceDefinition): Promise<ListResult> {
  const { query, info, server } = context;
  const selection = parseSelection(definition, info.namespace, query, info.name);
  const options = parseListOptions(query);
  const cache = definition.storage!.cache;
  const current = Math.max(server.cacher.revision, cache.oldestRevision);
  const { revision, from } = startOf(options, current, selection);
  if (revision > current) throw futureVersionError(revision, current);
  const state = options.isExact || options.continueToken !== "" ? cache.stateAt(revision) : cache.state;
  if (state === undefined) throw options.continueToken === "" ? expiredContinue(undefined) : expiredContinue(encodeContinue(-1, from.slice(selection.keyPrefix.length)));
  const shownRevision = options.isExact || options.continueToken !== "" ? revision : current;
  return page(state, selection, { from, limit: options.limit, revision: shownRevision });
}

function startOf(options: ListOptions, current: number, selection: Selection): { revision: number; from: string } {
  if (options.continueToken !== "") {
    const token = decodeContinue(options.continueToken);
    return { revision: token.revision < 0 ? current : token.revision, from: selection.keyPrefix + token.start };
  }
  return { revision: options.revision ?? current, from: selection.keyPrefix };
}

function page(state: SortedMap<StoredObject>, selection: Selection, options: { from: string; limit: number; revision: number }): ListResult {
  const { from, limit, revision } = options;
  if (selection.onlyKey !== undefined) {
    const only = state.get(selection.onlyKey);
    return { items: only !== undefined && selection.matches(only) ? [only] : [], metadata: { resourceVersion: String(revision) } };
  }
  const items: StoredObject[] = [];
  let lastKey = "";
  for (const [key, stored] of state.prefixed(selection.keyPrefix, from)) {
    if (limit > 0 && items.length === limit) return { items, metadata: morePages(state, selection, { lastKey, revision, nextKey: key }) };
    if (selection.matches(stored)) {
      items.push(stored);
      lastKey = key;
    }
  }
  return { items, metadata: { resourceVersion: String(revision) } };
}

/** Metadata of a page with others behind it. How many remain is told only when no selector hides some of them. */
function morePages(state: SortedMap<StoredObject>, selection: Selection, page: { lastKey: string; revision: number; nextKey: string }): ListMetadata {
  const start = `${page.lastKey.slice(selection.keyPrefix.length)}\0`;
  const remaining = selection.isEverything ? state.countPrefixed(selection.keyPrefix) - state.rank(page.nextKey) + state.rank(selection.keyPrefix) : undefined;
  return { resourceVersion: String(page.revision), continueToken: encodeContinue(page.revision, start), ...(remaining !== undefined && { remainingItemCount: remaining }) };
}

export function respondList(context: RequestContext, definition: ResourceDefinition, list: ListResult, form: Negotiated): ApiResponse {
  if (form.mediaType === "application/json" && form.transform === undefined && !form.isPretty && list.items.every((stored) => isServedAsStored(definition, stored))) return plainList(definition, list);
  const objects = list.items.map((stored) => readVersion(definition, stored));
  switch (form.transform?.kind) {
    case "Table":
      return objectResponse(200, tableOf(definition, objects, { transform: form.transform, includeObject: parseIncludeObject(context.query), metadata: list.metadata, nowMs: context.server.clock.nowMs(), descriptions: context.server.descriptions }), form, tableSchema);
    case "PartialObjectMetadataList":
      return objectResponse(200, partialListOf(objects, form.transform, list.metadata), form, partialListSchema);
    case "PartialObjectMetadata":
    case undefined: {
      const items = objects.map((object) => bareItem(printedAs(definition, object, form), definition));
      const body: JsonObject = { kind: definition.listKind, apiVersion: apiVersionOf(definition.group, definition.version), metadata: definition.isCustom ? { continue: "", ...listMetadataJson(list.metadata) } : listMetadataJson(list.metadata), items };
      return objectResponse(200, body, form, typeRegistry.kind(definition.group, definition.version, definition.listKind));
    }
  }
}

/** Items of built-in lists carry no kind and apiVersion of their own. */
function bareItem(object: JsonObject, definition: ResourceDefinition): JsonObject {
  if (definition.isCustom) return object;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

const openItems = Buffer.from(',"items":[');
const comma = Buffer.from(",");
const end = Buffer.from("]}\n");

/** JSON made of slices of the stored bytes. */
function plainList(definition: ResourceDefinition, list: ListResult): ApiResponse {
  const metadata = definition.isCustom ? { continue: "", ...listMetadataJson(list.metadata) } : listMetadataJson(list.metadata);
  const head = JSON.stringify({ kind: definition.listKind, apiVersion: apiVersionOf(definition.group, definition.version), metadata });
  const pieces: Buffer[] = [Buffer.from(head.slice(0, -1)), openItems];
  for (const [index, stored] of list.items.entries()) {
    if (index > 0) pieces.push(comma);
    pieces.push(...stored.listItem(!definition.isCustom));
  }
  pieces.push(end);
  return bytesResponse(200, "application/json", Buffer.concat(pieces));
}

