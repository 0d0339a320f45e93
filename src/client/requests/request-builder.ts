import { apiVersionOf } from "../../apimachinery/object.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ApiRequest } from "../../apimachinery/request.ts";
import type { ResourceType } from "../resource-type.ts";

/**
 * Requests for the API as values: every function is pure and returns method, path, query, headers and body (API concepts page,
 * "Resource URIs" and "Standard API terminology"). Nothing here knows of transports.
 */
export type RequestValue = Pick<ApiRequest, "method" | "path" | "query" | "headers" | "body">;

/** Which object: `namespace` is `""` for cluster-scoped resources. */
export interface ObjectAddress {
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: string;
}

/** `resourceVersion`: at least as new as that, `"0"` any. */
export interface GetOptions {
  readonly resourceVersion?: string;
}
/** Query of a list; names as in the API (`ListOptions` of meta/v1). */
export interface ListOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}
/** Query of a watch; names as in the API (`ListOptions` of meta/v1). */
export interface WatchOptions extends Omit<ListOptions, "limit" | "continue"> {
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
}
/** Query of a write. A dry run goes through everything but the store. */
export interface WriteOptions {
  readonly isDryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}
/** JSON merge patch, strategic merge patch, JSON patch, server-side apply. */
export type PatchType = "merge" | "strategic" | "json" | "apply";
/** A patch before it is sent. */
export interface Patch {
  readonly type: PatchType;
  /** What is sent as JSON: a partial object, or the operations of a JSON patch. */
  readonly body: unknown;
  /** Server-side apply only: take fields over from other managers. */
  readonly isForced?: boolean;
}
/** metav1.DeleteOptions. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly isDryRun?: boolean;
}

export function getRequest(resource: ResourceType, address: ObjectAddress, options: GetOptions = {}): RequestValue {
  return request("GET", pathOf(resource, address), { resourceVersion: options.resourceVersion }, { accept: acceptOf(resource, "PartialObjectMetadata") });
}

/** `namespace` `""` lists all namespaces. */
export function listRequest(resource: ResourceType, namespace: string, options: ListOptions = {}): RequestValue {
  return request("GET", pathOf(resource, { namespace, name: "" }), listQuery(options), { accept: acceptOf(resource, "PartialObjectMetadataList") });
}

export function watchRequest(resource: ResourceType, namespace: string, options: WatchOptions = {}): RequestValue {
  const query: Query = {
    ...listQuery(options),
    allowWatchBookmarks: options.allowWatchBookmarks,
    sendInitialEvents: options.sendInitialEvents,
    timeoutSeconds: options.timeoutSeconds,
    watch: true,
  };
  return request("GET", pathOf(resource, { namespace, name: "" }), query, { accept: acceptOf(resource, "PartialObjectMetadata") });
}

/** The object's kind and apiVersion are filled in from the resource when they are absent. */
export function createRequest(resource: ResourceType, object: DeepReadonly<KubeObject>, options: WriteOptions = {}): RequestValue {
  const namespace = resource.isNamespaced ? (object.metadata.namespace ?? "") : "";
  return request("POST", pathOf(resource, { namespace, name: "" }), writeQuery(options), jsonHeaders, typed(resource, object));
}

/** Creates on a subresource: `binding`, `eviction`, `token`. The body carries its own kind. */
export function createSubresourceRequest(resource: ResourceType, address: ObjectAddress, body: unknown, options: WriteOptions = {}): RequestValue {
  return request("POST", pathOf(resource, address), writeQuery(options), jsonHeaders, body);
}

/** PUT of the object, or of a subresource of it (`status`, `scale`, `finalize`, `approval`). */
export function updateRequest(
  resource: ResourceType,
  object: DeepReadonly<KubeObject>,
  options: WriteOptions & { readonly subresource?: string } = {},
): RequestValue {
  const address = { ...addressOf(resource, object), ...(options.subresource !== undefined && { subresource: options.subresource }) };
  return request("PUT", pathOf(resource, address), writeQuery(options), jsonHeaders, typed(resource, object));
}

/** PUT of a subresource of another kind (`scale`). The body carries its own kind. */
export function updateSubresourceRequest(resource: ResourceType, address: ObjectAddress, body: unknown, options: WriteOptions = {}): RequestValue {
  return request("PUT", pathOf(resource, address), writeQuery(options), jsonHeaders, body);
}

export function patchRequest(resource: ResourceType, address: ObjectAddress, patch: Patch, options: WriteOptions = {}): RequestValue {
  const query: Query = { ...writeQuery(options), force: patch.isForced };
  return request("PATCH", pathOf(resource, address), query, { accept: "application/json", "content-type": patchContentTypes[patch.type] }, patch.body);
}

export function deleteRequest(resource: ResourceType, address: ObjectAddress, options: DeleteOptions = {}): RequestValue {
  return request("DELETE", pathOf(resource, address), {}, jsonHeaders, deleteBody(options));
}

export function deleteCollectionRequest(resource: ResourceType, namespace: string, selection: ListOptions = {}, options: DeleteOptions = {}): RequestValue {
  return request("DELETE", pathOf(resource, { namespace, name: "" }), listQuery(selection), jsonHeaders, deleteBody(options));
}

/** Any other path, such as `/version` or `/apis`. */
export function rawRequest(path: string, accept = "application/json"): RequestValue {
  const [before, after = ""] = path.split("?", 2);
  return { ...request("GET", before!, {}, { accept }), query: after };
}

/** `/api/v1/namespaces/x/pods/y/status`: an empty `name` gives the collection. */
export function pathOf(resource: ResourceType, address: ObjectAddress): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const namespace = resource.isNamespaced && address.namespace !== "" ? `/namespaces/${encodeURIComponent(address.namespace)}` : "";
  const name = address.name === "" ? "" : `/${encodeURIComponent(address.name)}`;
  const subresource = address.subresource === undefined || address.subresource === "" ? "" : `/${address.subresource}`;
  return `${root}${namespace}/${resource.resource}${name}${subresource}`;
}

export function addressOf(resource: ResourceType, object: DeepReadonly<KubeObject>): ObjectAddress {
  return { namespace: resource.isNamespaced ? (object.metadata.namespace ?? "") : "", name: object.metadata.name ?? "" };
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const jsonHeaders = { accept: "application/json", "content-type": "application/json" } as const;
const patchContentTypes: Readonly<Record<PatchType, string>> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
};
const encoder = new TextEncoder();
const noBytes = new Uint8Array(0);

function listQuery(options: ListOptions): Query {
  return {
    continue: options.continue,
    fieldSelector: options.fieldSelector,
    labelSelector: options.labelSelector,
    limit: options.limit,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

function writeQuery(options: WriteOptions): Query {
  return { dryRun: options.isDryRun === true ? "All" : undefined, fieldManager: options.fieldManager, fieldValidation: options.fieldValidation };
}

function deleteBody(options: DeleteOptions): unknown {
  const { isDryRun, ...rest } = options;
  return { kind: "DeleteOptions", apiVersion: "v1", ...rest, ...(isDryRun === true && { dryRun: ["All"] }) };
}

function typed(resource: ResourceType, object: DeepReadonly<KubeObject>): unknown {
  return { kind: resource.kind, apiVersion: apiVersionOf(resource.group, resource.version), ...object };
}

function acceptOf(resource: ResourceType, metadataKind: string): string {
  return resource.representation === "metadata" ? `application/json;as=${metadataKind};g=meta.k8s.io;v=v1` : "application/json";
}

function request(method: string, path: string, query: Query, headers: RequestValue["headers"], body?: unknown): RequestValue {
  return { method, path, query: queryText(query), headers, body: body === undefined ? noBytes : encoder.encode(JSON.stringify(body)) };
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length === 0 ? "" : new URLSearchParams(pairs.map(([key, value]): [string, string] => [key, String(value)])).toString();
}
