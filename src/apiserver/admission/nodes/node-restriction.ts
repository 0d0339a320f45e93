/** NodeRestriction: a kubelet changes only its own node and the pods bound to it (documentation page "Admission Control"). Partner of the Node authorizer. */
import { nodeNameOf } from "../../authz/node-identity.ts";
import { definitionKey } from "../chain.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import { checkCertificateRequest, checkPodCertificateRequest } from "./node-certificates.ts";
import { checkNode } from "./node-objects.ts";
import { checkPod } from "./node-pods.ts";
import { checkClaim, checkCsiNode, checkLease, checkResourceSlice } from "./node-resources.ts";
import { checkServiceAccount } from "./node-tokens.ts";

/** Checks one request of the node called `nodeName`; throws when it goes beyond what that node may do. */
export type NodeCheck = (request: AdmissionRequest, nodeName: string) => void | Promise<void>;

const checks: Readonly<Record<string, NodeCheck>> = {
  "/pods": checkPod,
  "/nodes": checkNode,
  "/persistentvolumeclaims": checkClaim,
  "/serviceaccounts": checkServiceAccount,
  "coordination.k8s.io/leases": checkLease,
  "storage.k8s.io/csinodes": checkCsiNode,
  "resource.k8s.io/resourceslices": checkResourceSlice,
  "certificates.k8s.io/certificatesigningrequests": checkCertificateRequest,
  "certificates.k8s.io/podcertificaterequests": checkPodCertificateRequest,
};

export const nodeRestriction: AdmissionPlugin = {
  name: "NodeRestriction",
  operations: new Set(["CREATE", "UPDATE", "DELETE"]),
  resources: new Set(Object.keys(checks)),
  mutate: check,
  // Deletions only know the validating phase.
  validate: (request) => (request.operation === "DELETE" ? check(request) : undefined),
};

function check(request: AdmissionRequest): void | Promise<void> {
  const { user } = request.context;
  const nodeName = nodeNameOf(user);
  if (nodeName === undefined) return undefined;
  if (nodeName === "") throw refuse(request, `could not determine node from user ${JSON.stringify(user.username)}`);
  return checks[definitionKey(request.definition)]!(request, nodeName);
}
