import { isConflict, isNotFound } from "../../apimachinery/status.ts";
import { metadataOf, resourceOfKind } from "../../client/index.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import { AbsentOwners } from "./absent-owners.ts";
import { decideCollection } from "./decide.ts";
import { foregroundFinalizer, isDeletingDependents, nodeTitle, orphanFinalizer } from "./graph.ts";
import type { Log } from "../../base/log.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts";
import type { Client, DiscoveredResource, ResourceType } from "../../client/index.ts";
import type { OwnerState } from "./decide.ts";
import type { GraphNode, OwnerGraph } from "./graph.ts";

/**
 * Carries out what the graph asks for, one object at a time, always on what the server says now and never on the graph alone: the graph
 * only tells where to look. Owners that were found absent are remembered for a while, so that 10,000 dependents cost one question.
 */
export class Collector {
  readonly #graph: OwnerGraph;
  readonly #client: Client;
  readonly #log: Log;
  readonly #absent = new AbsentOwners(absentLimit);
  /** What discovery last told, by which kinds of owners are found. */
  resources: readonly DiscoveredResource[] = [];

  constructor(options: { graph: OwnerGraph; client: Client; log: Log }) {
    this.#graph = options.graph;
    this.#client = options.client;
    this.#log = options.log;
  }

  /** Looks at an object; returns uids to look at next. Throws to be asked again. */
  async attempt(uid: string, signal: AbortSignal): Promise<readonly string[]> {
    const node = this.#graph.get(uid);
    if (node?.metadata === undefined || node.resource === undefined) return [];
    if (node.metadata.deletionTimestamp !== undefined && !isDeletingDependents(node)) return [];
    // When an owner goes, or begins to wait, this is asked again.
    if (!isDeletingDependents(node) && this.#graph.hasOwnersAlive(node)) return [];
    const live = await this.#read(node.resource, node.namespace, node.name, signal);
    if (live === undefined || live.metadata.uid !== uid) return [];
    if (isDeletingDependents(live)) return this.#awaitDependents(node, live, signal);
    if (live.metadata.deletionTimestamp !== undefined) return [];
    const owners = await Promise.all(
      (live.metadata.ownerReferences ?? []).map(async (reference) => ({ reference, state: await this.#stateOf(reference, node, signal) })),
    );
    const dependents = [...node.dependents];
    const decision = decideCollection({
      metadata: live.metadata,
      owners,
      dependents: { count: dependents.length, isDeleting: dependents.some(isDeletingDependents) },
    });
    switch (decision.kind) {
      case "keep":
        return [];
      case "dropOwners":
        await this.#setMetadata(node, live, { ownerReferences: decision.kept }, signal);
        return [];
      case "delete":
        return this.#delete(node, decision.unblocks ? await this.#unblock(node, live, signal) : live, decision.policy, signal);
    }
  }

  /** Takes an owner's reference off everything that depends on it, and then lets the owner go. */
  async orphan(uid: string, signal: AbortSignal): Promise<void> {
    const node = this.#graph.get(uid);
    if (node?.resource === undefined) return;
    const live = await this.#read(node.resource, node.namespace, node.name, signal);
    if (live === undefined || live.metadata.uid !== uid || live.metadata.finalizers?.includes(orphanFinalizer) !== true) return;
    await Promise.all([...node.dependents].map((dependent) => this.#release(dependent, uid, signal)));
    await this.#removeFinalizer(node, live, orphanFinalizer, signal);
  }

  /** An object was seen to go: references to it dangle from now on. */
  noteGone(uid: string): void {
    this.#absent.add(uid, "");
  }

  async #awaitDependents(node: GraphNode, live: DeepReadonly<KubeObject>, signal: AbortSignal): Promise<readonly string[]> {
    const blocking = [...node.dependents].filter(({ owners }) => owners.some(({ uid, blockOwnerDeletion }) => uid === node.uid && blockOwnerDeletion === true));
    if (blocking.length > 0) return blocking.filter((dependent) => !isDeletingDependents(dependent)).map(({ uid }) => uid);
    await this.#removeFinalizer(node, live, foregroundFinalizer, signal);
    return [];
  }

  async #stateOf(reference: DeepReadonly<OwnerReference>, node: GraphNode, signal: AbortSignal): Promise<OwnerState> {
    if (this.#absent.has(reference.uid, node.namespace)) return "absent";
    const group = parseApiVersion(reference.apiVersion);
    const resource = group && resourceOfKind(this.resources, { group: group.group, version: group.version, kind: reference.kind });
    if (resource === undefined) throw new UnknownOwnerKindError(reference);
    // A cluster-scoped object cannot have a namespaced owner: nobody can tell which, so it is left alone.
    if (resource.isNamespaced && node.namespace === "") return "alive";
    const owner = await this.#read(metadataOf(resource), resource.isNamespaced ? node.namespace : "", reference.name, signal);
    if (owner === undefined || owner.metadata.uid !== reference.uid) {
      this.#absent.add(reference.uid, node.namespace);
      return "absent";
    }
    return isDeletingDependents(owner) ? "waiting" : "alive";
  }

  async #release(dependent: GraphNode, ownerUid: string, signal: AbortSignal): Promise<void> {
    if (dependent.resource === undefined) return;
    const live = await this.#read(dependent.resource, dependent.namespace, dependent.name, signal);
    if (live === undefined || live.metadata.uid !== dependent.uid) return;
    const owners = live.metadata.ownerReferences ?? [];
    if (owners.some(({ uid }) => uid === ownerUid))
      await this.#setMetadata(dependent, live, { ownerReferences: owners.filter(({ uid }) => uid !== ownerUid) }, signal);
  }

  async #unblock(node: GraphNode, live: DeepReadonly<KubeObject>, signal: AbortSignal): Promise<DeepReadonly<KubeObject> | undefined> {
    const ownerReferences = (live.metadata.ownerReferences ?? []).map((reference) =>
      reference.blockOwnerDeletion === true ? { ...reference, blockOwnerDeletion: false } : reference,
    );
    return this.#setMetadata(node, live, { ownerReferences }, signal);
  }

  async #removeFinalizer(node: GraphNode, live: DeepReadonly<KubeObject>, finalizer: string, signal: AbortSignal): Promise<void> {
    const finalizers = (live.metadata.finalizers ?? []).filter((candidate) => candidate !== finalizer);
    await this.#setMetadata(node, live, { finalizers }, signal);
  }

  /** Writes only if nobody else wrote meanwhile. */
  async #setMetadata(node: GraphNode, live: DeepReadonly<KubeObject>, change: object, signal: AbortSignal): Promise<DeepReadonly<KubeObject> | undefined> {
    const { resourceVersion, uid } = live.metadata;
    const body = { metadata: { resourceVersion, uid, ...change } };
    const patch = this.#client.patch(metadataOf(node.resource!), node.namespace, node.name, { type: "merge", body, signal });
    return ifThere(patch) as Promise<DeepReadonly<KubeObject> | undefined>;
  }

  /** Only as it was when it was judged: another owner may have taken it up since, so that it is looked at again. */
  async #delete(node: GraphNode, live: DeepReadonly<KubeObject> | undefined, propagationPolicy: Propagation, signal: AbortSignal): Promise<readonly string[]> {
    if (live === undefined) return [];
    this.#log.debug("Deleting what has no owner left", { object: nodeTitle(node), propagationPolicy });
    const { uid, resourceVersion } = live.metadata;
    const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
    try {
      await ifThere(this.#client.delete(node.resource!, node.namespace, node.name, { preconditions, propagationPolicy, signal }));
      return [];
    } catch (error) {
      if (!isConflict(error)) throw error;
      return [node.uid];
    }
  }

  async #read(resource: ResourceType, namespace: string, name: string, signal: AbortSignal): Promise<DeepReadonly<KubeObject> | undefined> {
    return ifThere(this.#client.get(metadataOf(resource), namespace, name, { signal })) as Promise<DeepReadonly<KubeObject> | undefined>;
  }
}

/** No resource is served for the kind that an owner reference names. */
export class UnknownOwnerKindError extends Error {
  override name = "UnknownOwnerKindError";
  readonly reason = "UnknownOwnerKind";
  constructor({ apiVersion, kind }: DeepReadonly<OwnerReference>) {
    super(`unable to get REST mapping for ${apiVersion}/${kind}.`);
  }
}

const absentLimit = 500;

/** What was answered, or undefined when the object is not there (any more). A conflict is for the next attempt: it looks at what there is then. */
async function ifThere<R>(call: Promise<R>): Promise<R | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

type Propagation = "Orphan" | "Foreground" | "Background";
