/** Pods a kubelet may write: mirror pods of its own, the status of its pods, their deletion and eviction. */
import type { Pod } from "../../../api/core-v1/types.ts";
import { deepEqual } from "../../../apimachinery/json.ts";
import { notFoundError } from "../../../apimachinery/status.ts";
import { findObject } from "../../registry/rule-context.ts";
import type { AdmissionRequest } from "../chain.ts";
import { configMapNamesOf, isMirrorPod, secretNamesOf } from "../pods/references.ts";
import { refuse } from "../refuse.ts";
import type { NodeCheck } from "./node-restriction.ts";

export const checkPod: NodeCheck = (request, nodeName) => {
  switch (request.subresource) {
    case "":
      return checkWhole(request, nodeName);
    case "status":
      return checkStatus(request, nodeName);
    case "eviction":
      return checkEviction(request, nodeName);
    default:
      throw refuse(request, `unexpected pod subresource ${JSON.stringify(request.subresource)}, only 'status' and 'eviction' are allowed`);
  }
};

function checkWhole(request: AdmissionRequest, nodeName: string): void {
  switch (request.operation) {
    case "CREATE":
      return checkCreate(request, nodeName);
    case "DELETE":
      if ((request.oldObject as unknown as Pod | undefined)?.spec?.nodeName !== nodeName)
        throw refuse(request, `node ${quote(nodeName)} can only delete pods with spec.nodeName set to itself`);
      return;
    default:
      throw refuse(request, `unexpected operation ${JSON.stringify(request.operation)}, node ${quote(nodeName)} can only create and delete mirror pods`);
  }
}

function checkCreate(request: AdmissionRequest, nodeName: string): void {
  const pod = request.object as unknown as Pod;
  const node = quote(nodeName);
  if (!isMirrorPod(pod)) throw refuse(request, `pod does not have "kubernetes.io/config.mirror" annotation, node ${node} can only create mirror pods`);
  if (pod.spec?.nodeName !== nodeName) throw refuse(request, `node ${node} can only create pods with spec.nodeName set to itself`);
  checkOwner(request, nodeName);
  const foreign = foreignReference(pod);
  if (foreign !== undefined) throw refuse(request, `node ${node} can not create pods that reference ${foreign}`);
}

/** The node itself is the only owner, under its present uid. */
function checkOwner(request: AdmissionRequest, nodeName: string): void {
  const node = quote(nodeName);
  const owners = request.object!.metadata.ownerReferences ?? [];
  const [owner] = owners;
  if (owners.length > 1) throw refuse(request, `node ${node} can only create pods with a single owner reference set to itself`);
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== nodeName)
    throw refuse(request, `node ${node} can only create pods with an owner reference set to itself`);
  if (owner.controller !== true) throw refuse(request, `node ${node} can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true) throw refuse(request, `node ${node} must not set blockOwnerDeletion on an owner reference`);
  const found = findObject(request.context.server, "/nodes", "", nodeName);
  if (found === undefined) throw notFoundError({ group: "", resource: "node" }, nodeName);
  if (owner.uid !== found.metadata.uid) throw refuse(request, `node ${nodeName} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`);
}

/** A mirror pod brings no rights to read other objects. */
function foreignReference({ spec = {} }: Pod): string | undefined {
  if (spec.serviceAccountName) return "a service account";
  if (secretNamesOf(spec).length > 0) return "secrets";
  if (configMapNamesOf(spec).length > 0) return "configmaps";
  const volumes = spec.volumes ?? [];
  if (volumes.some(({ projected }) => (projected?.sources ?? []).some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined)))
    return "clustertrustbundles";
  if (volumes.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined)) return "persistentvolumeclaims";
  return (spec.resourceClaims ?? []).length > 0 ? "resourceclaims" : undefined;
}

function checkStatus(request: AdmissionRequest, nodeName: string): void {
  if (request.operation !== "UPDATE") throw refuse(request, `unexpected operation ${JSON.stringify(request.operation)}`);
  const pod = request.object as unknown as Pod;
  const old = request.oldObject as unknown as Pod;
  const node = quote(nodeName);
  if (old.spec?.nodeName !== nodeName) throw refuse(request, `node ${node} can only update pod status for pods with spec.nodeName set to itself`);
  if (!deepEqual(pod.metadata.labels ?? {}, old.metadata.labels ?? {})) throw refuse(request, `node ${node} cannot update labels through pod status`);
  // The last word is spelled so.
  if (!deepEqual(pod.status?.resourceClaimStatuses ?? [], old.status?.resourceClaimStatuses ?? []))
    throw refuse(request, `node ${node} cannot update resource claim statues`);
  if (!deepEqual(pod.status?.extendedResourceClaimStatus, old.status?.extendedResourceClaimStatus))
    throw refuse(request, `node ${node} cannot update extended resource claim status`);
}

function checkEviction(request: AdmissionRequest, nodeName: string): void {
  if (request.operation !== "CREATE") throw refuse(request, `unexpected operation ${request.operation}`);
  const name = request.name || (request.object?.metadata.name ?? "");
  if (name === "") throw refuse(request, "could not determine pod from request data");
  const pod = findObject(request.context.server, "/pods", request.namespace, name) as unknown as Pod | undefined;
  if (pod === undefined) throw notFoundError({ group: "", resource: "pod" }, name);
  if (pod.spec?.nodeName !== nodeName) throw refuse(request, `node ${nodeName} can only evict pods with spec.nodeName set to itself`);
}

const quote = (text: string) => JSON.stringify(text);
