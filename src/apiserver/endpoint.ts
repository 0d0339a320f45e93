/** What lies behind the last stage: resources, discovery, health, version and the other paths. */
import groupOrder from "../api/data/group-order.json" with { type: "json" };
import type { ApiResponse } from "../apimachinery/request.ts";
import { proxyToExtension } from "./aggregation/proxy.ts";
import type { RemoteVersion } from "./aggregation/api-service-index.ts";
import { DiscoveryDocuments } from "./discovery/documents.ts";
import { handleFairnessDumps } from "./flowcontrol/dumps.ts";
import { handleDiscovery } from "./discovery/handle-discovery.ts";
import { dispatchResource, methodError } from "./handlers/dispatch.ts";
import { handleHealth } from "./handlers/paths/health.ts";
import type { HealthEndpoints } from "./handlers/paths/health.ts";
import { healthEndpointsOf } from "./handlers/paths/health-checks.ts";
import { handleIssuer } from "./handlers/paths/issuer-discovery.ts";
import { OpenApiDocuments } from "./openapi/documents.ts";
import { handleMetrics } from "./metrics/handle-metrics.ts";
import { handleStoreSnapshot } from "./handlers/paths/store-snapshot.ts";
import { handleProfiling } from "./handlers/paths/profiling.ts";
import { handleOpenApi } from "./openapi/handle-openapi.ts";
import { versionDocument } from "./handlers/paths/version.ts";
import { jsonText, plainText } from "./http/write-response.ts";
import { bytesResponse } from "../apimachinery/request.ts";
import type { Endpoint } from "./pipeline.ts";
import type { RequestContext } from "./request-context.ts";
import type { ServerState } from "./server-state.ts";

export function createEndpoint(server: ServerState): Endpoint {
  const documents = new DiscoveryDocuments(server.resources, {
    builtIn: groupOrder.groups,
    others: server,
    hasStorageHash: server.isEnabled("StorageVersionHash"),
  });
  const openApi = new OpenApiDocuments(server.resources, server.descriptions, {
    clock: server.clock,
    hasEnums: server.isEnabled("OpenAPIEnums"),
    publications: server.publications,
  });
  const healthEndpoints = healthEndpointsOf(server);
  return async (context) => {
    const remote = remoteOf(context);
    if (remote !== undefined) return proxyToExtension(context, remote);
    if (context.info.isResourceRequest && !isUnknownGroupRoot(context)) return dispatchResource(context);
    return (
      handleDiscovery(context, documents) ??
      (await handleHealth(context, healthEndpoints)) ??
      handleVersion(context) ??
      (await handleOpenApi(context, openApi)) ??
      (await handleMetrics(context, healthEndpoints)) ??
      handleIssuer(context) ??
      handleFairnessDumps(context) ??
      handleStoreSnapshot(context) ??
      (await handleProfiling(context)) ??
      handleIndex(context, documents, healthEndpoints) ??
      plainText(404, "404 page not found\n")
    );
  };
}

/** Who serves what a path names elsewhere: resources, discovery of a version, its OpenAPI document. */
function remoteOf({ info, server }: RequestContext): RemoteVersion | undefined {
  if (!info.path.startsWith("/apis/") && !info.path.startsWith("/openapi/")) return undefined;
  const segments = info.path.split("/");
  const start = segments[1] === "openapi" && segments[2] === "v3" ? 3 : 1;
  const [root, group, version] = segments.slice(start);
  if (root !== "apis" || group === undefined || version === undefined) return undefined;
  const remote = server.apiServices.remote(group, version);
  return start === 3 && !server.publications.v3Urls().has(`apis/${group}/${version}`) ? undefined : remote;
}

/** `/apis/GROUP/VERSION` has as many parts as a resource path below it has not. */
function isUnknownGroupRoot(context: RequestContext): boolean {
  return context.info.parts.length === 1 && context.info.resource === "" && !context.info.isLegacyWatch;
}

function handleVersion(context: RequestContext): ApiResponse | undefined {
  if (context.info.path.replace(/\/$/, "") !== "/version") return undefined;
  if (context.request.method !== "GET") throw methodError();
  return bytesResponse(200, "application/json", JSON.stringify(versionDocument(context.server.settings), undefined, 2));
}

/** `/` and `/index.html`: the paths served. */
function handleIndex(context: RequestContext, documents: DiscoveryDocuments, healthEndpoints: HealthEndpoints): ApiResponse | undefined {
  if (context.info.path !== "/" && context.info.path !== "/index.html") return undefined;
  const groups = (documents.groups()["groups"] as unknown as { name: string; versions: { groupVersion: string }[] }[]).flatMap((group) => [
    `/apis/${group.name}`,
    ...group.versions.map((version) => `/apis/${version.groupVersion}`),
  ]);
  const health = (["healthz", "livez", "readyz"] as const).flatMap((name) => [`/${name}`, ...healthEndpoints[name].map((check) => `/${name}/${check.name}`)]);
  const { isEnabled } = context.server;
  const paths = [
    "/.well-known/openid-configuration",
    "/api",
    "/api/v1",
    "/apis",
    "/apis/",
    ...groups,
    ...(isEnabled("ComponentFlagz") ? ["/flagz"] : []),
    ...health,
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    ...(isEnabled("ComponentStatusz") ? ["/statusz"] : []),
    "/version",
  ].sort();
  return bytesResponse(200, "application/json", jsonText({ paths }, true));
}
