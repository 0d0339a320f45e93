/** The shape every API object has, whatever its kind. */
import type { JsonObject } from "./json.ts";

/** metav1.ObjectMeta; all fields as in the API reference "ObjectMeta". */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** meta/v1 OwnerReference: an object without any of its owners left is garbage; the one with `controller` manages it. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
}

/** Any API object: an index of unknown members beside the common ones. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [member: string]: unknown;
}

/** A group, version and plural resource name (`""` is the core group). */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `apps`, `v1` → `apps/v1`; the core group has no prefix. */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** `apps/v1` → `{group: "apps", version: "v1"}`; more than one slash gives undefined. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split("/");
  if (parts.length === 1) return { group: "", version: parts[0]! };
  return parts.length === 2 ? { group: parts[0]!, version: parts[1]! } : undefined;
}

/** `deployments`, `apps` → `deployments.apps`, as errors name a resource. */
export function qualifiedResource(resource: string, group: string): string {
  return group === "" ? resource : `${resource}.${group}`;
}
