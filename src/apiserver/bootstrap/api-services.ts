/** An APIService for each group-version that the server serves itself (documentation page "Kubernetes API Aggregation Layer"). */
import data from "../../api/data/bootstrap-objects.json" with { type: "json" };
import { apiVersionOf } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { formatTime } from "../../apimachinery/time.ts";
import { createInternally, deleteInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { findObjects } from "../registry/rule-context.ts";
import type { ServerState } from "../server-state.ts";

const managedLabel = "kube-aggregator.kubernetes.io/automanaged";

export async function createApiServices(server: ServerState): Promise<void> {
  const definition = server.resources.find("apiregistration.k8s.io", "v1", "apiservices")!;
  const wanted = wantedServices(server.resources);
  await removeOthers(server, definition, new Set(wanted.map(({ metadata }) => metadata.name)));
  for (const object of wanted) {
    const name = object.metadata.name!;
    if (definition.storage!.cache.get(name) !== undefined) continue;
    await createInternally(server, definition, object);
    await updateInternally(server, definition, { namespace: "", name, subresource: "status" }, (old) => ({
      ...old,
      status: {
        conditions: [
          {
            type: "Available",
            status: "True",
            lastTransitionTime: formatTime(server.clock.nowMs()),
            reason: "Local",
            message: "Local APIServices are always available",
          },
        ],
      },
    }));
  }
}

/** Versions that an earlier start served and this one does not. */
async function removeOthers(server: ServerState, definition: ResourceDefinition, wanted: ReadonlySet<string | undefined>): Promise<void> {
  for (const { metadata } of findObjects(server, "apiregistration.k8s.io/apiservices", "")) {
    if (metadata.labels?.[managedLabel] === "onstart" && !wanted.has(metadata.name))
      await deleteInternally(server, definition, { namespace: "", name: metadata.name! });
  }
}

const known = (data.objects as unknown as KubeObject[]).filter((object) => object.kind === "APIService");

function wantedServices(resources: Iterable<ResourceDefinition>): KubeObject[] {
  const versions = new Map<string, { group: string; version: string }>();
  for (const { group, version, isCustom } of resources) {
    // (The aggregator and the definitions of custom resources have their APIServices among the known ones.)
    if (!isCustom) versions.set(apiVersionOf(group, version), { group, version });
  }
  return [...versions.values()]
    .map(({ group, version }) => {
      const name = `${version}.${group}`;
      const object = known.find(({ metadata }) => metadata.name === name);
      return object === undefined ? furtherService(name, group, version) : withoutStatus(object);
    })
    .filter((object) => object !== undefined);
}

function withoutStatus(object: KubeObject): KubeObject {
  const copy = { ...object };
  delete copy["status"];
  return copy;
}

/** Priorities of versions that are served on request only: `group priority`, `version priority`. */
const priorities: Readonly<Record<string, readonly [number, number]>> = {
  "admissionregistration.k8s.io/v1beta1": [16_700, 12],
  "admissionregistration.k8s.io/v1alpha1": [16_700, 9],
  "certificates.k8s.io/v1beta1": [17_300, 9],
  "coordination.k8s.io/v1beta1": [16_500, 13],
  "coordination.k8s.io/v1alpha2": [16_500, 12],
  "internal.apiserver.k8s.io/v1alpha1": [16_000, 9],
  "lifecycle.k8s.io/v1alpha1": [15_700, 9],
  "resource.k8s.io/v1beta2": [16_200, 15],
  "resource.k8s.io/v1beta1": [16_200, 9],
  "resource.k8s.io/v1alpha3": [16_200, 1],
  "scheduling.k8s.io/v1beta1": [16_600, 9],
  "scheduling.k8s.io/v1alpha3": [16_600, 1],
  "storagemigration.k8s.io/v1beta1": [15_800, 9],
};

function furtherService(name: string, group: string, version: string): KubeObject | undefined {
  const priority = priorities[apiVersionOf(group, version)];
  if (priority === undefined) return undefined;
  const [groupPriorityMinimum, versionPriority] = priority;
  return {
    kind: "APIService",
    apiVersion: "apiregistration.k8s.io/v1",
    metadata: { name, labels: { [managedLabel]: "onstart" } },
    spec: { group, version, groupPriorityMinimum, versionPriority },
  };
}
