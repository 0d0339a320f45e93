/** What else a kubelet writes: its lease, its CSINode, its resource slices, the status of claims. */
import type { PersistentVolumeClaim } from "../../../api/core-v1/types.ts";
import type { ResourceSlice } from "../../../api/resource-v1/types.ts";
import { jsonDiff } from "../../../api/meta/diff.ts";
import { internalForm } from "../../../api/meta/internal-form.ts";
import { deepEqual } from "../../../apimachinery/json.ts";
import type { AdmissionRequest } from "../chain.ts";
import { refuse } from "../refuse.ts";
import type { NodeCheck } from "./node-restriction.ts";

const leaseNamespace = "kube-node-lease";

export const checkLease: NodeCheck = (request, nodeName) => {
  if (request.namespace !== leaseNamespace) throw refuse(request, `can only access leases in the ${JSON.stringify(leaseNamespace)} system namespace`);
  if (targetName(request) !== nodeName) throw refuse(request, "can only access node lease with the same name as the requesting node");
};

export const checkCsiNode: NodeCheck = (request, nodeName) => {
  if (targetName(request) !== nodeName) throw refuse(request, "can only access CSINode with the same name as the requesting node");
};

export const checkResourceSlice: NodeCheck = (request, nodeName) => {
  const nodeOf = (object: unknown) => (object as ResourceSlice | undefined)?.spec?.nodeName;
  if (request.operation === "CREATE" && nodeOf(request.object) !== nodeName)
    throw refuse(request, "can only create ResourceSlice with the same NodeName as the requesting node");
  if (request.operation === "DELETE" && nodeOf(request.oldObject) !== nodeName)
    throw refuse(request, "can only delete ResourceSlice with the same NodeName as the requesting node");
  // Updates: the node's name cannot change, and the authorizer knows whose slice it is.
};

export const checkClaim: NodeCheck = (request, nodeName) => {
  if (request.subresource !== "status") throw refuse(request, "may only update PVC status");
  if (request.operation !== "UPDATE") throw refuse(request, `unexpected operation ${JSON.stringify(request.operation)}`);
  const old = withoutNodesFields(request.oldObject as unknown as PersistentVolumeClaim);
  const next = withoutNodesFields(request.object as unknown as PersistentVolumeClaim);
  if (deepEqual(next, old)) return;
  throw refuse(
    request,
    `node ${JSON.stringify(nodeName)} is not allowed to update fields other than status.quantity and status.conditions: ${jsonDiff(shown(old), shown(next))}`,
  );
};

const shown = (claim: PersistentVolumeClaim) => internalForm("api.core.v1.PersistentVolumeClaim", claim);

const nodesFields = [
  "capacity",
  "conditions",
  "allocatedResources",
  "allocatedResourceStatuses",
  "currentVolumeAttributesClassName",
  "modifyVolumeStatus",
] as const;

/** The claim without what nodes may write, and without what the server itself notes. */
function withoutNodesFields(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { resourceVersion: _, managedFields: __, ...metadata } = claim.metadata;
  const status = { ...claim.status };
  for (const field of nodesFields) delete status[field];
  return { ...claim, metadata, status };
}

/** On creation the name stands in the object. A name that is yet to be generated matches no node. */
function targetName({ operation, name, object }: AdmissionRequest): string {
  return operation === "CREATE" ? name || (object?.metadata.name ?? "") : name;
}
