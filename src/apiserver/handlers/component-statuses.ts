/**
 * `componentstatuses`: whether the store, the scheduler and the controller manager are well (deprecated since v1.19, still served). Nothing
 * is stored: a component is well while it renews its lease.
 */
import { typeRegistry } from "../../api/registry.ts";
import type { ComponentStatus } from "../../api/core-v1/types.ts";
import type { Lease } from "../../api/coordination-v1/types.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import { matchesLabels, parseLabelSelector } from "../../apimachinery/selectors/label-selector.ts";
import { notFoundError } from "../../apimachinery/status.ts";
import { parseTime } from "../../apimachinery/time.ts";
import { objectResponse } from "../http/write-response.ts";
import { findObject } from "../registry/rule-context.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { RequestContext } from "../request-context.ts";
import type { ServerState } from "../server-state.ts";
import { goTypeOf, negotiateFor, objectTransforms, respondObject } from "./respond.ts";
import { parseIncludeObject, partialListOf, partialListSchema, tableOf, tableSchema } from "./reading/transform.ts";

export function isComponentStatus(definition: ResourceDefinition): boolean {
  return definition.group === "" && definition.resource === "componentstatuses";
}

/** GET of one component or of all. Throws 404. */
export async function handleComponentStatuses(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const { name, parts } = context.info;
  if (parts.length > 1) {
    const form = negotiateFor(context, objectTransforms(definition), goTypeOf(definition, false));
    const found = (await componentStatuses(context.server)).find((status) => status.metadata.name === name);
    if (found === undefined) throw notFoundError({ group: "", resource: "componentstatus" }, name);
    return respondObject(context, definition, found as KubeObject, { form, status: 200 });
  }
  return list(context, definition);
}

async function list(context: RequestContext, definition: ResourceDefinition): Promise<ApiResponse> {
  const form = negotiateFor(context, ["Table", "PartialObjectMetadataList"], goTypeOf(definition, true));
  const selector = parseLabelSelector(context.query.get("labelSelector") ?? "");
  const all = (await componentStatuses(context.server)) as KubeObject[];
  const objects = all.filter(
    (status) => matchesLabels(selector, status.metadata.labels) && (context.info.name === "" || status.metadata.name === context.info.name),
  );
  switch (form.transform?.kind) {
    case "Table": {
      const options = {
        transform: form.transform,
        includeObject: parseIncludeObject(context.query),
        metadata: undefined,
        nowMs: context.server.clock.nowMs(),
        descriptions: context.server.descriptions,
      };
      return objectResponse(200, tableOf(definition, objects, options), form, tableSchema);
    }
    case "PartialObjectMetadataList":
      return objectResponse(200, partialListOf(objects, form.transform, { resourceVersion: "" }), form, partialListSchema);
    default: {
      const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item as JsonObject);
      return objectResponse(
        200,
        { kind: "ComponentStatusList", apiVersion: "v1", metadata: {}, items },
        form,
        typeRegistry.kind("", "v1", "ComponentStatusList"),
      );
    }
  }
}

/** Upstream asks each component at its port of the loopback. */
const components = [
  { name: "scheduler", lease: "kube-scheduler", port: 10259 },
  { name: "controller-manager", lease: "kube-controller-manager", port: 10257 },
];

async function componentStatuses(server: ServerState): Promise<ComponentStatus[]> {
  const fromLeases = components.map(({ name, lease, port }) =>
    statusOf(name, isHeld(server, lease) ? undefined : `Get "https://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`),
  );
  const store = await server.store.revision().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return [...fromLeases, statusOf("etcd-0", store)];
}

function statusOf(name: string, fault: string | undefined): ComponentStatus {
  return {
    kind: "ComponentStatus",
    apiVersion: "v1",
    metadata: { name },
    conditions: [{ type: "Healthy", status: fault === undefined ? "True" : "False", message: fault ?? "ok" }],
  };
}

function isHeld(server: ServerState, name: string): boolean {
  const lease = findObject(server, "coordination.k8s.io/leases", "kube-system", name) as Lease | undefined;
  const renewedMs = lease?.spec?.renewTime === undefined ? undefined : parseTime(lease.spec.renewTime);
  return renewedMs !== undefined && renewedMs + (lease!.spec!.leaseDurationSeconds ?? 0) * 1000 >= server.clock.nowMs();
}
