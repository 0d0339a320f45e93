/** What a cluster needs so that nodes can join by a token: a description that may be read by all, and rights of those who come with one. */
import { isAlreadyExists } from "../../apimachinery/status.ts";
import type { ConfigMap } from "../../api/core-v1/types.ts";
import type { PolicyRule, Subject } from "../../api/rbac-v1/types.ts";
import { resources } from "../../client/index.ts";
import type { Client, ResourceType } from "../../client/index.ts";
import type { ClusterRanges } from "../nodes/node-place.ts";
import { readRanges } from "../nodes/node-folders.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

/** The group of those who come with a token. */
export const nodeGroup = "system:bootstrappers:coracle:node";
/** Where joining nodes read the cluster's ranges. */
export const settingsName = "coracle-cluster";

const apiGroup = "rbac.authorization.k8s.io";
const apiVersion = `${apiGroup}/v1`;

export type JoinSettings = Pick<ClusterRanges, "podCidrs" | "serviceCidrs" | "loadBalancerCidrs">;

export async function prepareJoining(client: Client, { server, authority, dataDir }: { server: string; authority: string; dataDir: string }): Promise<void> {
  const ranges = await readRanges(dataDir);
  if (ranges === undefined) throw new Error("nodes can join a cluster that runs containers: start it with `coracle up --runtime containerd`");
  const { podCidrs, serviceCidrs, loadBalancerCidrs } = ranges;
  const settings: JoinSettings = { podCidrs, serviceCidrs, loadBalancerCidrs };
  await put(client, { metadata: { namespace: "kube-public", name: "cluster-info" }, data: { kubeconfig: clusterInfo(server, authority) } });
  await put(client, { metadata: { namespace: "kube-system", name: settingsName }, data: { settings: JSON.stringify(settings), "ca.crt": authority } });
  await reading(client, { namespace: "kube-public", name: "cluster-info", subjects: [{ kind: "User", apiGroup, name: "system:anonymous" }] });
  await reading(client, { namespace: "kube-system", name: settingsName, subjects: [group(nodeGroup), group("system:nodes")] });
  for (const [name, role, subject] of [
    ["coracle:node-bootstrap", "system:node-bootstrapper", nodeGroup],
    ["coracle:approve-node", "system:certificates.k8s.io:certificatesigningrequests:nodeclient", nodeGroup],
    ["coracle:renew-node", "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes"],
  ] as const)
    await make(client, resources.clusterRoleBindings, {
      kind: "ClusterRoleBinding",
      apiVersion,
      metadata: { name },
      roleRef: { apiGroup, kind: "ClusterRole", name: role },
      subjects: [group(subject)],
    });
}

/** A kubeconfig without a user. */
export function clusterInfo(server: string, authority: string): string {
  const cluster = { server, "certificate-authority-data": Buffer.from(authority).toString("base64") };
  return JSON.stringify({ apiVersion: "v1", kind: "Config", clusters: [{ name: "", cluster }] });
}

/** A ConfigMap with these data, whatever it had; signatures beside them stay. */
async function put(client: Client, map: ConfigMap): Promise<void> {
  try {
    await client.create(resources.configMaps, { kind: "ConfigMap", apiVersion: "v1", ...map });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await client.patch(resources.configMaps, map.metadata.namespace!, map.metadata.name!, { type: "merge", body: { data: map.data! } });
  }
}

async function reading(client: Client, { namespace, name, subjects }: { namespace: string; name: string; subjects: Subject[] }): Promise<void> {
  const rules: PolicyRule[] = [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [name], verbs: ["get"] }];
  const metadata = { namespace, name: `coracle:${name}` };
  await make(client, resources.roles, { kind: "Role", apiVersion, metadata, rules });
  await make(client, resources.roleBindings, { kind: "RoleBinding", apiVersion, metadata, roleRef: { apiGroup, kind: "Role", name: metadata.name }, subjects });
}

async function make<T extends KubeObject>(client: Client, resource: ResourceType<T>, object: T): Promise<void> {
  await client.create(resource, object as never).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

function group(name: string): Subject {
  return { kind: "Group", apiGroup, name };
}
