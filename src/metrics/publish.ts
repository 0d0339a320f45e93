/** Makes the API server ask us for metrics.k8s.io: a Service without a selector, an EndpointSlice, an APIService, and the right to read for viewers. */
import { isAlreadyExists } from "../apimachinery/status.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { resources } from "../client/index.ts";
import type { Client, ResourceType } from "../client/index.ts";
import { group, version } from "./metrics-api.ts";

const namespace = "kube-system";
const name = "metrics-server";

export interface MetricsPlace {
  readonly address: string;
  readonly port: number;
  /** PEM of who has signed our certificate. */
  readonly authority: string;
}

/** Rejects when the API server refuses. Leaves a metrics server of somebody else alone: then it resolves with false. */
export async function publishMetrics(client: Client, { address, port, authority }: MetricsPlace): Promise<boolean> {
  const labels = { "k8s-app": name };
  const ours = { "app.kubernetes.io/managed-by": "coracle" };
  const service = await put(client, resources.services, {
    kind: "Service",
    apiVersion: "v1",
    metadata: { namespace, name, labels: { ...labels, ...ours } },
    spec: { ports: [{ name: "https", port: 443, targetPort: port }] },
  });
  if (service.metadata.labels?.["app.kubernetes.io/managed-by"] !== "coracle") return false;
  const slice = {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: {
      namespace,
      name: `${name}-coracle`,
      labels: { "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": "metrics.coracle" },
    },
    addressType: address.includes(":") ? "IPv6" : "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: "https", protocol: "TCP", port }],
  };
  const known = await put(client, resources.endpointSlices, slice);
  await client.update(resources.endpointSlices, { ...known, endpoints: slice.endpoints, ports: slice.ports });
  const spec = {
    group,
    version,
    groupPriorityMinimum: 100,
    versionPriority: 100,
    caBundle: Buffer.from(authority).toString("base64"),
    service: { namespace, name, port: 443 },
  };
  const registered = await put(client, resources.apiServices, {
    kind: "APIService",
    apiVersion: "apiregistration.k8s.io/v1",
    metadata: { name: `${version}.${group}`, labels },
    spec,
  });
  await client.update(resources.apiServices, { ...registered, spec });
  await put(client, resources.clusterRoles, {
    kind: "ClusterRole",
    apiVersion: "rbac.authorization.k8s.io/v1",
    metadata: {
      name: "system:aggregated-metrics-reader",
      labels: {
        "rbac.authorization.k8s.io/aggregate-to-view": "true",
        "rbac.authorization.k8s.io/aggregate-to-edit": "true",
        "rbac.authorization.k8s.io/aggregate-to-admin": "true",
      },
    },
    rules: [{ apiGroups: [group], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] }],
  });
  return true;
}

async function put<T extends KubeObject>(client: Client, resource: ResourceType<T>, object: T): Promise<T> {
  try {
    return await client.create(resource, object as never);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.get(resource, object.metadata.namespace ?? "", object.metadata.name!);
  }
}
