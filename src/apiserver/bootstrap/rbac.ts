/**
 * The roles and bindings of a fresh cluster. At each start missing rules and subjects are added again, unless the object's annotation
 * `rbac.authorization.kubernetes.io/autoupdate` is `false` (documentation page "RBAC: Auto-reconciliation").
 */
import data from "../../api/data/bootstrap-rbac.json" with { type: "json" };
import type { ClusterRole, PolicyRule, RoleRef, Subject } from "../../api/rbac-v1/types.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import type { KubeObject, ObjectMeta } from "../../apimachinery/object.ts";
import { createInternally, deleteInternally, updateInternally } from "../registry/internal-writes.ts";
import type { ServerState } from "../server-state.ts";

const group = "rbac.authorization.k8s.io";
const autoupdate = "rbac.authorization.kubernetes.io/autoupdate";
const resources = { ClusterRole: "clusterroles", ClusterRoleBinding: "clusterrolebindings", Role: "roles", RoleBinding: "rolebindings" } as const;
type Kind = keyof typeof resources;

interface BootstrapObject extends Pick<ObjectMeta, "labels" | "annotations"> {
  readonly name: string;
  readonly namespace?: string;
  readonly rules?: PolicyRule[] | null;
  readonly aggregationRule?: object;
  readonly subjects?: Subject[];
  readonly roleRef?: RoleRef;
}

export async function reconcileRbac(server: ServerState): Promise<void> {
  for (const kind of ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"] as const) {
    for (const wanted of data.objects[kind] as unknown as BootstrapObject[]) await reconcile(server, kind, withGates(server, kind, wanted));
    for (const wanted of gatedObjects(kind)) if (server.isEnabled(wanted.gate)) await reconcile(server, kind, wanted.object);
  }
}

/** Further rules where what they are about is served. */
const gated = [
  {
    gate: "GenericWorkload",
    kind: "ClusterRole",
    name: "system:kube-scheduler",
    rules: [
      { apiGroups: ["scheduling.k8s.io"], resources: ["podgroups"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["scheduling.k8s.io"], resources: ["podgroups/status"], verbs: ["patch", "update"] },
    ],
  },
  {
    gate: "DRAWorkloadResourceClaims",
    kind: "ClusterRole",
    name: "system:controller:resource-claim-controller",
    rules: [
      { apiGroups: ["scheduling.k8s.io"], resources: ["podgroups"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["scheduling.k8s.io"], resources: ["podgroups/finalizers"], verbs: ["update"] },
      { apiGroups: ["scheduling.k8s.io"], resources: ["podgroups/status"], verbs: ["patch", "update"] },
    ],
  },
] as const satisfies readonly (Pick<BootstrapObject, "name"> & { gate: string; kind: Kind; rules: unknown })[];

/** Roles of controllers that are there only with their gate. */
function gatedObjects(kind: Kind): readonly { readonly gate: string; readonly object: BootstrapObject }[] {
  const account = "podgroup-protection-controller";
  const name = `system:controller:${account}`;
  const marks = { name, labels: { "kubernetes.io/bootstrapping": "rbac-defaults" }, annotations: { [autoupdate]: "true" } };
  const rules = [
    { apiGroups: ["scheduling.k8s.io"], resources: ["podgroups"], verbs: ["get", "list", "update", "watch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ];
  if (kind === "ClusterRole") return [{ gate: "GenericWorkload", object: { ...marks, rules } }];
  if (kind !== "ClusterRoleBinding") return [];
  const subjects = [{ kind: "ServiceAccount", name: account, namespace: "kube-system" }];
  return [{ gate: "GenericWorkload", object: { ...marks, subjects, roleRef: { apiGroup: group, kind: "ClusterRole", name } } }];
}

function withGates(server: ServerState, kind: Kind, wanted: BootstrapObject): BootstrapObject {
  const more = gated.filter((one) => one.kind === kind && one.name === wanted.name && server.isEnabled(one.gate));
  return more.length === 0
    ? wanted
    : { ...wanted, rules: [...(wanted.rules ?? []), ...more.flatMap(({ rules }) => structuredClone(rules) as unknown as PolicyRule[])] };
}

async function reconcile(server: ServerState, kind: Kind, wanted: BootstrapObject): Promise<void> {
  const definition = server.resources.find(group, "v1", resources[kind])!;
  const { name, namespace = "", labels, annotations, ...content } = wanted;
  const object: KubeObject = {
    kind,
    apiVersion: `${group}/v1`,
    metadata: { name, ...(namespace !== "" && { namespace }), ...(labels !== undefined && { labels }), ...(annotations !== undefined && { annotations }) },
    ...content,
  };
  const stored = definition.storage!.cache.get(namespace === "" ? name : `${namespace}/${name}`);
  if (stored === undefined) {
    await createInternally(server, definition, object);
    return;
  }
  const existing = definition.storage!.cache.parse(stored);
  if (existing.metadata.annotations?.[autoupdate] === "false") return;
  if (wanted.roleRef !== undefined && !deepEqual(existing["roleRef"], wanted.roleRef)) {
    // A binding's role cannot change: it is made anew.
    await deleteInternally(server, definition, { namespace, name });
    await createInternally(server, definition, object);
    return;
  }
  if (isComplete(existing, wanted)) return;
  await updateInternally(server, definition, { namespace, name }, (old) => completed(old, wanted));
}

function isComplete(existing: KubeObject, wanted: BootstrapObject): boolean {
  return deepEqual(completed(existing, wanted), existing);
}

/** The object with what the wanted one has and it lacks. */
function completed(old: KubeObject, wanted: BootstrapObject): KubeObject {
  const metadata: ObjectMeta = { ...old.metadata };
  if (wanted.labels !== undefined) metadata.labels = { ...wanted.labels, ...old.metadata.labels };
  if (wanted.annotations !== undefined) metadata.annotations = { ...wanted.annotations, ...old.metadata.annotations };
  const next: KubeObject = { ...old, metadata };
  if (wanted.aggregationRule !== undefined) next["aggregationRule"] = old["aggregationRule"] ?? wanted.aggregationRule;
  else if (wanted.rules !== undefined && wanted.rules !== null) next["rules"] = union((old as unknown as ClusterRole).rules ?? [], wanted.rules);
  if (wanted.subjects !== undefined) next["subjects"] = union((old["subjects"] as Subject[] | undefined) ?? [], wanted.subjects);
  return next;
}

function union<T>(existing: readonly T[], wanted: readonly T[]): readonly T[] {
  // Nearly always, and much cheaper to see.
  if (deepEqual(existing, wanted)) return existing;
  return [...existing, ...wanted.filter((item) => !existing.some((other) => deepEqual(other, item)))];
}
