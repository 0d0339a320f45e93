import type { KubeObject } from "../apimachinery/object.ts";

/**
 * A resource as a value: where its objects are served and which type they have. `T` is what the decoded objects are trusted to be.
 * Custom resources are made the same way: `{ group: "example.com", version: "v1", resource: "widgets", kind: "Widget", isNamespaced: true }`.
 */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** `""` is the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name in paths. */
  readonly resource: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** `metadata`: objects are read as metav1.PartialObjectMetadata (name, labels, owners, finalizers, nothing else). */
  readonly representation?: "metadata";
  /** Carries `T`; never set. */
  readonly objectType?: T;
}

/** The same resource, read as metadata only: what the garbage collector and the quota of custom resources need. */
export function metadataOf(resource: ResourceType): ResourceType {
  return { ...resource, representation: "metadata" };
}

/** `deployments.apps`, `pods`: how logs and errors name a resource. */
export function resourceLabel(resource: Pick<ResourceType, "group" | "resource">): string {
  return resource.group === "" ? resource.resource : `${resource.resource}.${resource.group}`;
}
