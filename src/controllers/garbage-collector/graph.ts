import { resourceLabel } from "../../client/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../apimachinery/object.ts";
import type { ResourceType } from "../../client/index.ts";

/**
 * Who owns whom, of all objects of all resources, by uid. Driven by metadata informers through `put` and `remove`; answers with the work
 * that a change asks for. An owner that is only known from references is virtual until it is seen or found to be missing.
 * Invariant: a node is among the dependents of every owner it names, and of no other.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** An object was added or changed. */
  put(resource: ResourceType, object: DeepReadonly<KubeObject>): GraphWork {
    const { uid = "" } = object.metadata;
    const known = this.#nodes.get(uid);
    const before = known?.metadata;
    const node: GraphNode = known ?? { uid, resource, name: "", namespace: "", metadata: undefined, owners: [], dependents: new Set() };
    node.resource = resource;
    node.name = object.metadata.name ?? "";
    node.namespace = object.metadata.namespace ?? "";
    node.metadata = object.metadata;
    this.#nodes.set(uid, node);
    const work = new Work();
    this.#setOwners(node, object.metadata.ownerReferences ?? [], work);
    transitions(node, before, work);
    // Dependents may have named this uid with another kind or namespace: now it can be told.
    if (before === undefined) for (const dependent of node.dependents) this.#checkReference(dependent, node, work);
    return work;
  }

  /** An object is gone, whatever its name: what depended on it has to be looked at, and owners that waited for it. */
  remove(uid: string): GraphWork {
    const work = new Work();
    const node = this.#nodes.get(uid);
    if (node === undefined) return work;
    for (const dependent of node.dependents) work.attempt(dependent.uid);
    for (const { uid: ownerUid } of node.owners) this.#leave(node, ownerUid, work);
    node.owners = [];
    node.metadata = undefined;
    if (node.dependents.size === 0) this.#nodes.delete(uid);
    return work;
  }

  /** Whether every owner that a node names has been seen, as it is named, and does not wait for its dependents. */
  hasOwnersAlive({ owners, namespace }: GraphNode): boolean {
    return owners.every(({ uid, kind, name }) => {
      const owner = this.#nodes.get(uid);
      if (owner?.metadata === undefined || isDeletingDependents(owner)) return false;
      return owner.resource?.kind === kind && owner.name === name && (owner.namespace === "" || owner.namespace === namespace);
    });
  }

  #setOwners(node: GraphNode, owners: readonly DeepReadonly<OwnerReference>[], work: Work): void {
    const before = new Map(node.owners.map((owner) => [owner.uid, owner]));
    const now = new Map(owners.map((owner) => [owner.uid, owner]));
    node.owners = owners;
    for (const uid of before.keys()) if (!now.has(uid)) this.#leave(node, uid, work);
    for (const [uid, owner] of now) {
      const old = before.get(uid);
      if (old === undefined) this.#join(node, owner, work);
      else if (old.blockOwnerDeletion === true && owner.blockOwnerDeletion !== true) this.#wakeWaiting(uid, work);
    }
    if (before.size > 0 && [...before.keys()].some((uid) => !now.has(uid))) work.attempt(node.uid);
  }

  #join(node: GraphNode, owner: DeepReadonly<OwnerReference>, work: Work): void {
    let ownerNode = this.#nodes.get(owner.uid);
    if (ownerNode === undefined) {
      ownerNode = { uid: owner.uid, resource: undefined, name: owner.name, namespace: node.namespace, metadata: undefined, owners: [], dependents: new Set() };
      this.#nodes.set(owner.uid, ownerNode);
    }
    ownerNode.dependents.add(node);
    if (ownerNode.metadata === undefined || isDeletingDependents(ownerNode)) work.attempt(node.uid);
    this.#checkReference(node, ownerNode, work);
  }

  #leave(node: GraphNode, ownerUid: string, work: Work): void {
    const ownerNode = this.#nodes.get(ownerUid);
    if (ownerNode === undefined) return;
    ownerNode.dependents.delete(node);
    this.#wakeWaiting(ownerUid, work);
    if (ownerNode.metadata === undefined && ownerNode.dependents.size === 0) this.#nodes.delete(ownerUid);
  }

  #wakeWaiting(ownerUid: string, work: Work): void {
    const owner = this.#nodes.get(ownerUid);
    if (owner !== undefined && isDeletingDependents(owner)) work.attempt(ownerUid);
  }

  #checkReference(dependent: GraphNode, owner: GraphNode, work: Work): void {
    if (owner.metadata === undefined || owner.resource === undefined) return;
    const reference = dependent.owners.find(({ uid }) => uid === owner.uid);
    if (reference === undefined) return;
    const isElsewhere = owner.namespace !== "" && owner.namespace !== dependent.namespace;
    if (isElsewhere) work.report(dependent, reference);
    if (isElsewhere || reference.kind !== owner.resource.kind || reference.name !== owner.name) work.attempt(dependent.uid);
  }
}

export interface GraphNode {
  readonly uid: string;
  /** Undefined until the object was seen. */
  resource: ResourceType | undefined;
  name: string;
  namespace: string;
  /** As last seen; undefined while the node is virtual, or once the object is gone. */
  metadata: DeepReadonly<ObjectMeta> | undefined;
  owners: readonly DeepReadonly<OwnerReference>[];
  readonly dependents: Set<GraphNode>;
}

export interface GraphWork {
  /** Uids of objects that may have to be deleted, or that wait for dependents to go. */
  readonly attempts: ReadonlySet<string>;
  /** Uids of objects whose dependents are to be orphaned. */
  readonly orphanings: ReadonlySet<string>;
  /** References that name an owner of another namespace. */
  readonly invalid: readonly { readonly dependent: GraphNode; readonly reference: DeepReadonly<OwnerReference> }[];
}

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/** In foreground deletion: it waits until its dependents are gone. */
export function isDeletingDependents({ metadata }: Pick<GraphNode, "metadata">): boolean {
  return metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes(foregroundFinalizer) === true;
}

export function nodeTitle({ resource, namespace, name }: GraphNode): string {
  return `${resource === undefined ? "?" : resourceLabel(resource)} ${namespace === "" ? name : `${namespace}/${name}`}`;
}

class Work implements GraphWork {
  readonly attempts = new Set<string>();
  readonly orphanings = new Set<string>();
  readonly invalid: { dependent: GraphNode; reference: DeepReadonly<OwnerReference> }[] = [];

  attempt(uid: string): void {
    this.attempts.add(uid);
  }
  report(dependent: GraphNode, reference: DeepReadonly<OwnerReference>): void {
    this.invalid.push({ dependent, reference });
  }
}

/** What begins when an object starts to be deleted. */
function transitions(node: GraphNode, before: DeepReadonly<ObjectMeta> | undefined, work: Work): void {
  if (node.metadata?.deletionTimestamp === undefined) return;
  const has = (metadata: DeepReadonly<ObjectMeta> | undefined, finalizer: string) =>
    metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
  if (has(node.metadata, orphanFinalizer) && !has(before, orphanFinalizer)) work.orphanings.add(node.uid);
  if (has(node.metadata, foregroundFinalizer) && !has(before, foregroundFinalizer)) {
    work.attempt(node.uid);
    for (const dependent of node.dependents) work.attempt(dependent.uid);
  }
}
