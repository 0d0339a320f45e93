/** The last stage: from a request's info to the handler that answers it. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { StatusError, badRequestError, methodNotAllowedError, notFoundError } from "../../apimachinery/status.ts";
import { isTrue } from "../http/request-info.ts";
import { plainText } from "../http/write-response.ts";
import { annotate } from "../admission/audit-annotations.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { RequestContext } from "../request-context.ts";
import { handleComponentStatuses, isComponentStatus } from "./component-statuses.ts";
import { handleCreate } from "./writing/create.ts";
import { handleDelete, handleDeleteCollection } from "./writing/delete.ts";
import { handleGet } from "./reading/get.ts";
import { handleList } from "./reading/list.ts";
import { handlePatch } from "./writing/patch.ts";
import { seeNewest } from "./reading/see-newest.ts";
import { handleSubresource } from "./subresources/subresources.ts";
import { handleUpdate } from "./writing/update.ts";
import { handleVirtual, isVirtual } from "./virtual.ts";
import { handleWatch } from "./watching/watch.ts";

type Handler = (context: RequestContext, definition: ResourceDefinition) => Promise<ApiResponse>;

const objectHandlers: Readonly<Record<string, Handler>> = { GET: handleGet, PUT: handleUpdate, PATCH: handlePatch, DELETE: handleDelete };
const collectionHandlers: Readonly<Record<string, Handler>> = { GET: handleCollectionRead, POST: handleCreate, DELETE: handleDeleteCollection };

/** Answers a request for a resource. Throws 404 and 405. */
export async function dispatchResource(context: RequestContext): Promise<ApiResponse> {
  const { info, server, request } = context;
  const { resources } = server;
  if (!resources.hasGroup(info.group) || (isBeyondBuiltIn(context) && resources.find(info.group, info.version, info.resource) === undefined))
    return plainText(404, "404 page not found\n");
  if (info.isLegacyWatch && info.parts.length === 0)
    return plainText(
      500,
      `Internal Server Error: ${goQuote(info.path)}: failed to create RequestInfo: unable to determine kind and namespace from url, ${info.path}\n`,
    );
  if (server.store.isShared === true) await seeNewest(context);
  const definition = resources.find(info.group, info.version, info.resource);
  if (definition?.isCustom === true) return dispatchCustom(context, definition);
  if (definition === undefined || !isRoutable(definition, context)) throw noResourceError();
  const method = request.method;
  if (info.subresource !== "") {
    const subresource = definition.subresources.get(info.subresource);
    if (subresource === undefined) throw noResourceError();
    if (!allows(subresource.verbs, method)) throw methodError();
    if (subresource.kind === definition.kind) warnOfDeprecation(context, definition);
    return handleSubresource(context, definition, subresource);
  }
  if (isVirtual(definition)) {
    if (info.parts.length > 1) throw noResourceError();
    if (method !== "POST") throw methodError();
    return handleVirtual(context, definition);
  }
  const handlers = info.isLegacyWatch ? watchHandlers : info.parts.length > 1 ? objectHandlers : collectionHandlers;
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (handler === undefined) throw methodError();
  const isAllNamespaces = definition.isNamespaced && info.namespace === "";
  if (isAllNamespaces && method !== "GET") throw methodError();
  if (!definition.verbs.has(info.verb)) throw methodError();
  warnOfDeprecation(context, definition);
  if (isComponentStatus(definition)) return handleComponentStatuses(context, definition);
  return handler(context, definition);
}

/** Tells the client, and the audit. */
function warnOfDeprecation(context: RequestContext, { deprecationWarning }: ResourceDefinition): void {
  if (deprecationWarning === undefined) return;
  context.warnings.add(deprecationWarning);
  annotate(context, "k8s.io/deprecated", "true");
}

/** Versions that only definitions can fill answer like paths that nobody knows. */
function isBeyondBuiltIn({ info, server }: RequestContext): boolean {
  return !server.resources.isBuiltIn(info.group, info.version) && server.resources.hasCustom(info.group);
}

/** Custom resources have no routes of their own: what does not fit is answered by one handler for all. */
async function dispatchCustom(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const { info, request } = context;
  warnOfDeprecation(context, definition);
  if (
    definition.isNamespaced !== (info.namespace !== "") &&
    (info.parts.length > 1 || (info.verb !== "list" && info.verb !== "watch") || !definition.isNamespaced)
  )
    return plainText(404, "404 page not found\n");
  if (info.subresource !== "") {
    const subresource = definition.subresources.get(info.subresource);
    if (subresource === undefined) throw notFoundError(definition, info.name);
    if (!allows(subresource.verbs, request.method)) throw methodNotAllowedError(definition, info.verb);
    return handleSubresource(context, definition, subresource);
  }
  const handler = Object.hasOwn(customHandlers, info.verb) ? customHandlers[info.verb] : undefined;
  if (handler === undefined) throw methodNotAllowedError(definition, info.verb);
  if (info.name === "" && objectVerbs.has(info.verb)) throw badRequestError("name must be provided");
  return handler(context, definition);
}

const objectVerbs: ReadonlySet<string> = new Set(["get", "update", "patch", "delete"]);
const customHandlers: Readonly<Record<string, Handler>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

const watchHandlers: Readonly<Record<string, Handler>> = { GET: handleWatch };

function handleCollectionRead(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  return isTrue(context.query.get("watch")) ? handleWatch(context, definition) : handleList(context, definition);
}

/** Whether such a path exists: namespaced resources below a namespace (lists also above), others not; at most one part below a subresource's. */
function isRoutable(definition: ResourceDefinition, context: RequestContext): boolean {
  const { info } = context;
  const isInNamespace = info.namespace !== "";
  const isNamespaceItself = definition.resource === "namespaces" && definition.group === "";
  if (isInNamespace && !definition.isNamespaced && !isNamespaceItself) return false;
  if (definition.isNamespaced && !isInNamespace && info.parts.length > 1) return false;
  const isProxyLike = info.subresource === "proxy";
  return info.parts.length <= 3 || isProxyLike;
}

const methodVerbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
  OPTIONS: "get",
};

function allows(verbs: ReadonlySet<string>, method: string): boolean {
  const verb = methodVerbs[method];
  return verb !== undefined && method !== "HEAD" && verbs.has(verb);
}

export function noResourceError(): StatusError {
  return new StatusError({ message: "the server could not find the requested resource", reason: "NotFound", details: {}, code: 404 });
}

export function methodError(): StatusError {
  return new StatusError({ message: "the server does not allow this method on the requested resource", reason: "MethodNotAllowed", details: {}, code: 405 });
}
