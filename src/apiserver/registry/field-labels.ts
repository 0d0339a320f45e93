/** Field labels of built-in kinds and how each kind refuses others (documentation page "Field Selectors"). */
import type { FieldLabels } from "./resource-definition.ts";

const ownLabels: Readonly<Record<string, readonly string[]>> = {
  "/v1/events": [
    "reason",
    "reportingComponent",
    "source",
    "type",
    ...["kind", "name", "namespace", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name) => `involvedObject.${name}`),
  ],
  "/v1/namespaces": ["status.phase"],
  "/v1/nodes": ["spec.unschedulable"],
  "/v1/pods": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
    "spec.host",
  ],
  "/v1/replicationcontrollers": ["status.replicas"],
  "/v1/secrets": ["type"],
  "/v1/services": ["spec.clusterIP", "spec.type"],
  "events.k8s.io/v1/events": [
    "reason",
    "reportingController",
    "type",
    ...["kind", "name", "namespace", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name) => `regarding.${name}`),
  ],
  "certificates.k8s.io/v1/certificatesigningrequests": ["spec.signerName"],
  "certificates.k8s.io/v1/clustertrustbundles": ["spec.signerName"],
  "certificates.k8s.io/v1/podcertificaterequests": ["spec.nodeName", "spec.signerName", "spec.podName"],
  "batch/v1/jobs": ["status.successful"],
  "resource.k8s.io/v1/resourceslices": ["spec.nodeName", "spec.driver", "spec.pool.name"],
};

/** The one kind that cannot be chosen by its namespace's label. */
const withoutNamespace = "certificates.k8s.io/v1/podcertificaterequests";

/** Kinds that word their refusal differently. */
const refusals: Readonly<Record<string, (label: string, version: string) => string>> = {
  "batch/v1/jobs": (label) => `field label ${JSON.stringify(label)} not supported for Job`,
  "resource.k8s.io/v1/resourceslices": (label, version) => `field label not supported for resource.k8s.io/${version}, Kind=ResourceSlice: ${label}`,
};

export function fieldLabelsOf(group: string, version: string, resource: { readonly name: string }): FieldLabels {
  // Other versions of a kind have the labels of its stable one.
  const path = [version, "v1"].map((name) => `${group}/${name}/${resource.name}`).find((one) => ownLabels[one] !== undefined) ?? "";
  const own = ownLabels[path];
  const refusal = refusals[path];
  const refuse =
    (refusal && ((label: string) => refusal(label, version))) ??
    (own === undefined ? refuseByDefault : (label: string) => `field label not supported: ${label}`);
  return { accepted: new Set(["metadata.name", ...(path === withoutNamespace ? [] : ["metadata.namespace"]), ...(own ?? [])]), refuse };
}

export function refuseByDefault(label: string): string {
  return `${JSON.stringify(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
