/** A kubelet's own Node object: no foreign labels, no taints, no owners. */
import type { Node } from "../../../api/core-v1/types.ts";
import { deepEqual } from "../../../apimachinery/json.ts";
import { refuse } from "../refuse.ts";
import type { NodeCheck } from "./node-restriction.ts";

export const checkNode: NodeCheck = (request, nodeName) => {
  const node = request.object as unknown as Node | undefined;
  const quoted = JSON.stringify(nodeName);
  const requested = request.name || (node?.metadata.name ?? "");
  if (request.operation === "CREATE") {
    if (node!.spec?.configSource !== undefined) throw refuse(request, `node ${quoted} is not allowed to create pods with a non-nil configSource`);
    const forbidden = forbiddenLabels(changedLabels(node!.metadata.labels ?? {}, {}));
    if (forbidden.length > 0) throw refuse(request, `node ${quoted} is not allowed to set the following labels: ${forbidden.join(", ")}`);
  }
  if (requested !== nodeName) throw refuse(request, `node ${quoted} is not allowed to modify node ${JSON.stringify(requested)}`);
  if (request.operation !== "UPDATE") return;
  const old = request.oldObject as unknown as Node;
  if (node!.spec?.configSource !== undefined && !deepEqual(node!.spec.configSource, old.spec?.configSource))
    throw refuse(request, `node ${quoted} is not allowed to update configSource to a new non-nil configSource`);
  if (!deepEqual(node!.spec?.taints ?? [], old.spec?.taints ?? [])) throw refuse(request, `node ${quoted} is not allowed to modify taints`);
  const forbidden = forbiddenLabels(changedLabels(node!.metadata.labels ?? {}, old.metadata.labels ?? {}));
  if (forbidden.length > 0) throw refuse(request, `is not allowed to modify labels: ${forbidden.join(", ")}`);
  if (!deepEqual(node!.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? []))
    throw refuse(request, `node ${quoted} is not allowed to modify ownerReferences`);
};

type Labels = Readonly<Record<string, string>>;

/** Keys that were added, removed or got another value. */
function changedLabels(labels: Labels, old: Labels): string[] {
  return [...new Set([...Object.keys(labels), ...Object.keys(old)])].filter((key) => labels[key] !== old[key]);
}

/** Labels that kubelets may set although they belong to Kubernetes. */
const kubeletLabels = new Set([
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);
const kubeletNamespaces = ["kubelet.kubernetes.io", "node.kubernetes.io"];

function forbiddenLabels(changed: readonly string[]): string[] {
  return changed.filter(isForbidden).sort();
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf("/");
  const namespace = slash < 0 ? "" : label.slice(0, slash);
  const isIn = (parent: string) => namespace === parent || namespace.endsWith(`.${parent}`);
  if (isIn("node-restriction.kubernetes.io")) return true;
  if (!isIn("kubernetes.io") && !isIn("k8s.io")) return false;
  return !kubeletLabels.has(label) && !kubeletNamespaces.some(isIn);
}
