/** Answers `/api`, `/apis` and what lies below them down to a group-version. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { typeRegistry } from "../../api/registry.ts";
import { methodError, noResourceError } from "../handlers/dispatch.ts";
import { withPretty } from "../handlers/respond.ts";
import { negotiate, servedMediaTypes } from "../http/negotiation.ts";
import { jsonText, objectResponse, plainText } from "../http/write-response.ts";
import type { RequestContext } from "../request-context.ts";
import type { DiscoveryDocuments } from "./documents.ts";

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The answer to a discovery path, or undefined when the path is none. */
export function handleDiscovery(context: RequestContext, documents: DiscoveryDocuments): ApiResponse | undefined {
  const segments = context.info.path.replace(/\/+$/, "").slice(1).split("/");
  const [root, group, version] = segments;
  if (root !== "api" && root !== "apis") return undefined;
  const isCore = root === "api";
  if (segments.length === 1)
    return readOnly(context, () =>
      isAggregated(context) ? aggregated(context, documents, isCore) : document(context, isCore ? apiVersions(context) : documents.groups()),
    );
  if (isCore) {
    if (segments.length !== 2) return undefined;
    const list = documents.resources("", group!);
    if (list === undefined) throw noResourceError();
    return readOnly(context, () => document(context, list));
  }
  if (segments.length === 2) {
    const found = documents.group(group!);
    // Upstream's group handler looks at no method.
    return found === undefined ? plainText(404, "404 page not found\n") : document(context, found);
  }
  if (segments.length === 3) {
    if (documents.group(group!) === undefined) return plainText(404, "404 page not found\n");
    const list = documents.resources(group!, version!);
    if (list === undefined) throw noResourceError();
    return readOnly(context, () => document(context, list));
  }
  return undefined;
}

function readOnly(context: RequestContext, answer: () => ApiResponse): ApiResponse {
  if (context.request.method !== "GET") throw methodError();
  return answer();
}

function document(context: RequestContext, body: JsonObject): ApiResponse {
  const form = withPretty(context, negotiate(context.request.headers["accept"], { transforms: [], mediaTypes: servedMediaTypes(context.server) }));
  return objectResponse(200, body, form, typeRegistry.struct(`apimachinery.pkg.apis.meta.v1.${body["kind"] as string}`));
}

function apiVersions(context: RequestContext): JsonObject {
  const { advertiseAddress, externalHostname, securePort } = context.server.settings;
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: `${externalHostname || advertiseAddress}:${securePort}` }],
  };
}

/** Whether the first clause of Accept that can be served asks for the aggregated form. */
function isAggregated(context: RequestContext): boolean {
  for (const clause of (context.request.headers["accept"] ?? "").split(",")) {
    const parts = clause.split(";").map((part) => part.trim());
    if (!parts.includes("g=apidiscovery.k8s.io")) return false;
    if (parts.includes("v=v2") && parts.includes("as=APIGroupDiscoveryList")) return true;
  }
  return false;
}

function aggregated(context: RequestContext, documents: DiscoveryDocuments, isCore: boolean): ApiResponse {
  const { body, etag } = documents.aggregated(isCore);
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  if (context.request.headers["if-none-match"] === etag) return bytesResponse(304, aggregatedType, "", headers);
  return bytesResponse(200, aggregatedType, jsonText(body), headers);
}
