/** Which pods in the API stand for the node's own: pure, from both sides. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { configAnnotations } from "./static-pod.ts";

export interface MirrorInput {
  readonly statics: readonly DeepReadonly<Pod>[];
  /** Of this node, in the API. */
  readonly mirrors: readonly DeepReadonly<Pod>[];
  readonly node: { readonly name: string; readonly uid: string };
  /** Whether something of a pod of this name still runs. */
  isBusy(name: string): boolean;
}

export type MirrorStep = { readonly kind: "create"; readonly pod: Pod } | { readonly kind: "delete"; readonly pod: DeepReadonly<Pod> };

/** One that is outdated goes first; its successor is made when it is gone. */
export function planMirrors({ statics, mirrors, node, isBusy }: MirrorInput): MirrorStep[] {
  const steps: MirrorStep[] = [];
  for (const pod of statics) {
    const mirror = mirrors.find((candidate) => fullName(candidate) === fullName(pod));
    if (mirror === undefined) steps.push({ kind: "create", pod: mirrorOf(pod, node) });
    else if (isOutdated(mirror, pod, node.uid)) steps.push({ kind: "delete", pod: mirror });
  }
  for (const mirror of mirrors) {
    const isWanted = statics.some((pod) => fullName(pod) === fullName(mirror));
    // What ends is told to the end.
    if (!isWanted && !isBusy(fullName(mirror))) steps.push({ kind: "delete", pod: mirror });
  }
  return steps;
}

export const fullName = ({ metadata }: DeepReadonly<Pod>) => `${metadata.name}_${metadata.namespace}`;

function isOutdated(mirror: DeepReadonly<Pod>, pod: DeepReadonly<Pod>, nodeUid: string): boolean {
  if (mirror.metadata.deletionTimestamp !== undefined) return true;
  const owner = mirror.metadata.ownerReferences?.find(({ kind }) => kind === "Node");
  return mirror.metadata.annotations?.[configAnnotations.mirror] !== hashOf(pod) || owner?.uid !== nodeUid;
}

const hashOf = (pod: DeepReadonly<Pod>) => pod.metadata.annotations?.[configAnnotations.hash] ?? "";

function mirrorOf(pod: DeepReadonly<Pod>, node: MirrorInput["node"]): Pod {
  const { name, namespace, labels, annotations } = pod.metadata;
  return {
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels: { ...labels } }),
      annotations: { ...annotations, [configAnnotations.mirror]: hashOf(pod) },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid, controller: true }],
    },
    spec: structuredClone(pod.spec) as Pod["spec"] & {},
  };
}
