import { signatureOf } from "../state/pod-info.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Refusal } from "./refusal.ts";

/**
 * What plugins said of nodes for pods made from one template, for plugins whose answer depends on nothing but the pod's spec and the node info
 * (`isLocal`). A memory only: decisions are the same without it. Invariant: an answer holds for the very node info it was given for, which
 * is immutable.
 */
export class VerdictCache {
  readonly #bySignature = new Map<string, NodeVerdicts>();

  of(pod: PodInfo): NodeVerdicts {
    const signature = signatureOf(pod.pod);
    const known = this.#bySignature.get(signature);
    if (known !== undefined) return known;
    if (this.#bySignature.size >= signatureLimit) this.#bySignature.delete(this.#bySignature.keys().next().value!);
    const verdicts: NodeVerdicts = { filtered: { nodes: [], refusals: [] }, scored: new Map() };
    this.#bySignature.set(signature, verdicts);
    return verdicts;
  }
}

/** All by the nodes' positions in the snapshot; an answer counts while `nodes` has the same node info there. */
export interface NodeVerdicts {
  readonly filtered: { readonly nodes: NodeInfo[]; readonly refusals: (Refusal | undefined)[] };
  readonly scored: Map<string, { readonly nodes: NodeInfo[]; readonly scores: number[] }>;
}

const signatureLimit = 64;
