/**
 * Which nodes have to do with an object, through the pods bound to them: kept event by event, asked in constant time.
 *
 * Driven by the caches of pods and persistent volumes. Invariant: `#nodes` counts, for each object that pods refer to, the pods on each
 * node that do; `#volumes` names the volumes whose drivers read a secret. What an object itself tells (the claim of a volume) is read
 * when asked.
 */
import type { PersistentVolume, Pod } from "../../api/core-v1/types.ts";
import { claimNamesOf, configMapNamesOf, isMirrorPod, secretNamesOf } from "../admission/pods/references.ts";
import { follow } from "../cache/follow.ts";
import type { CacheEvent, ResourceCache } from "../cache/resource-cache.ts";
import type { StoredObject } from "../cache/stored-object.ts";

/** Kinds of objects that pods refer to. */
export type ReferredKind = "secret" | "configmap" | "claim" | "serviceaccount" | "resourceclaim";

export class NodeGraph {
  readonly #pods: ResourceCache;
  readonly #persistentVolumes: ResourceCache;
  readonly #nodes = new Map<string, Map<string, number>>();
  readonly #volumes = new Map<string, Set<string>>();
  readonly #catchUpPods: () => void;
  readonly #catchUpVolumes: () => void;

  constructor(caches: { readonly pods: ResourceCache; readonly persistentVolumes: ResourceCache }) {
    this.#pods = caches.pods;
    this.#persistentVolumes = caches.persistentVolumes;
    this.#catchUpPods = follow(this.#pods, {
      reset: (objects) => {
        this.#nodes.clear();
        for (const stored of objects) this.#countPod(stored, 1);
      },
      apply: (event) => this.#applyPod(event),
    });
    this.#catchUpVolumes = follow(this.#persistentVolumes, {
      reset: (objects) => {
        this.#volumes.clear();
        for (const stored of objects) this.#addVolume(stored);
      },
      apply: (event) => {
        if (event.previous !== undefined) this.#removeVolume(event.previous);
        if (event.type !== "DELETED") this.#addVolume(event.object);
      },
    });
  }

  /** Whether a pod on the node refers to the object. */
  refers(nodeName: string, kind: ReferredKind, namespace: string, name: string): boolean {
    this.#catchUpPods();
    return this.#nodes.get(targetKey(kind, namespace, name))?.has(nodeName) === true;
  }

  /** Whether a pod on the node mounts the claim that the volume belongs to. */
  usesVolume(nodeName: string, volumeName: string): boolean {
    const stored = this.#persistentVolumes.get(volumeName);
    const claim = stored && (this.#persistentVolumes.parse(stored) as unknown as PersistentVolume).spec?.claimRef;
    return claim !== undefined && this.refers(nodeName, "claim", claim.namespace ?? "", claim.name ?? "");
  }

  /** Whether a pod on the node uses a volume whose driver reads the secret. */
  needsSecretOfVolume(nodeName: string, namespace: string, name: string): boolean {
    this.#catchUpVolumes();
    for (const volume of this.#volumes.get(`${namespace}/${name}`) ?? []) if (this.usesVolume(nodeName, volume)) return true;
    return false;
  }

  #applyPod({ previous, object, type }: CacheEvent): void {
    if (type === "MODIFIED" && previous !== undefined && hasSameReferences(previous.bytes, object.bytes)) return;
    if (previous !== undefined) this.#countPod(previous, -1);
    if (type !== "DELETED") this.#countPod(object, 1);
  }

  #countPod(stored: StoredObject, change: 1 | -1): void {
    if (!stored.bytes.includes(nodeNameMarker)) return;
    const pod = this.#pods.parse(stored) as unknown as Pod;
    const nodeName = pod.spec?.nodeName ?? "";
    // A mirror pod brings no rights: the kubelet made it up itself.
    if (nodeName === "" || isMirrorPod(pod)) return;
    for (const target of targetsOf(pod)) {
      let nodes = this.#nodes.get(target);
      if (nodes === undefined) this.#nodes.set(target, (nodes = new Map()));
      const count = (nodes.get(nodeName) ?? 0) + change;
      if (count > 0) nodes.set(nodeName, count);
      else nodes.delete(nodeName);
      if (nodes.size === 0) this.#nodes.delete(target);
    }
  }

  #addVolume(stored: StoredObject): void {
    for (const secret of this.#secretsOf(stored)) {
      const volumes = this.#volumes.get(secret);
      if (volumes === undefined) this.#volumes.set(secret, new Set([stored.key]));
      else volumes.add(stored.key);
    }
  }

  #removeVolume(stored: StoredObject): void {
    for (const secret of this.#secretsOf(stored)) {
      const volumes = this.#volumes.get(secret);
      volumes?.delete(stored.key);
      if (volumes?.size === 0) this.#volumes.delete(secret);
    }
  }

  #secretsOf(stored: StoredObject): string[] {
    return volumeSecrets(this.#persistentVolumes.parse(stored) as unknown as PersistentVolume);
  }
}

const nodeNameMarker = Buffer.from('"nodeName":"');
const specMarker = Buffer.from('"spec":{');
const statusMarker = Buffer.from(',"status":{');
const claimMarker = Buffer.from("esourceClaimStatus");

const targetKey = (kind: ReferredKind, namespace: string, name: string) => `${kind} ${namespace}/${name}`;

/** Everything that the pod refers to, each once. */
function targetsOf(pod: Pod): Set<string> {
  const namespace = pod.metadata.namespace!;
  const { spec = {}, status } = pod;
  const claims = [
    ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ...(status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ].filter((name) => name !== undefined);
  return new Set([
    ...secretNamesOf(spec).map((name) => targetKey("secret", namespace, name)),
    ...configMapNamesOf(spec).map((name) => targetKey("configmap", namespace, name)),
    ...claimNamesOf(pod).map((name) => targetKey("claim", namespace, name)),
    ...claims.map((name) => targetKey("resourceclaim", namespace, name)),
    ...(spec.serviceAccountName ? [targetKey("serviceaccount", namespace, spec.serviceAccountName)] : []),
  ]);
}

/** Tells from the stored bytes that only the status changed, as most updates of pods do; false when that is not certain. */
function hasSameReferences(before: Buffer, after: Buffer): boolean {
  if (before.includes(claimMarker) || after.includes(claimMarker)) return false;
  const [from, to] = [before.indexOf(specMarker), after.indexOf(specMarker)];
  const [fromEnd, toEnd] = [before.lastIndexOf(statusMarker), after.lastIndexOf(statusMarker)];
  if (from < 0 || to < 0 || fromEnd < from || toEnd < to) return false;
  return before.subarray(from, fromEnd).equals(after.subarray(to, toEnd));
}

/** Secrets, as `namespace/name`, that the volume's driver reads on the node. */
function volumeSecrets({ spec }: PersistentVolume): string[] {
  const { claimRef, azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec ?? {};
  const own = claimRef?.namespace ?? "";
  const references = [
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace },
    cephfs?.secretRef,
    cinder?.secretRef,
    flexVolume?.secretRef,
    rbd?.secretRef,
    scaleIO?.secretRef,
    iscsi?.secretRef,
    storageos?.secretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ];
  return references.flatMap((reference) => (reference?.name === undefined ? [] : [`${(reference.namespace ?? "") || own}/${reference.name}`]));
}
