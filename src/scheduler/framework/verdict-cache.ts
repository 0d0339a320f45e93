import { signatureOf } from "../state/pod-info.ts";
import type { NodeInfo } from "../state/node-info.ts";
import type { PodInfo } from "../state/pod-info.ts";
import type { Candidate } from "./decision.ts";
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
    const verdicts: NodeVerdicts = {
      filtered: { nodes: [], refusals: [] },
      crowded: new PromisedAnswers(),
      candidates: new CandidateAnswers(),
      scored: new Map(),
    };
    this.#bySignature.set(signature, verdicts);
    return verdicts;
  }
}

/** All by the nodes' positions in the snapshot; an answer counts while `nodes` has the same node info there. */
export interface NodeVerdicts {
  readonly filtered: { readonly nodes: NodeInfo[]; readonly refusals: (Refusal | undefined)[] };
  /** Of nodes on which other pods were promised room, when all filters are local. */
  readonly crowded: PromisedAnswers<Refusal | undefined>;
  /** Who would have to leave a node for such a pod, when all filters are local. */
  readonly candidates: CandidateAnswers;
  readonly scored: Map<string, { readonly nodes: NodeInfo[]; readonly scores: number[] }>;
}

/** Answers that hold for a node info and for the very pods that were promised room on the node. */
export class PromisedAnswers<T> {
  readonly #known: (PromisedAnswer<T> | undefined)[] = [];

  find(position: number, node: NodeInfo, promised: readonly PodInfo[]): PromisedAnswer<T> | undefined {
    const known = this.#known[position];
    return known !== undefined && known.node === node && known.promised === promised ? known : undefined;
  }

  remember(position: number, answer: PromisedAnswer<T>): T {
    this.#known[position] = answer;
    return answer.answer;
  }
}

export interface PromisedAnswer<T> {
  readonly node: NodeInfo;
  readonly promised: readonly PodInfo[];
  readonly answer: T;
}

/** Answers to who would have to leave, which hold while the disruption budgets are the same. */
export class CandidateAnswers {
  #budgets = "";
  #answers = new PromisedAnswers<Candidate | Refusal>();

  /** `budgets` tells the state of all disruption budgets apart. */
  under(budgets: string): PromisedAnswers<Candidate | Refusal> {
    if (budgets !== this.#budgets) this.#answers = new PromisedAnswers();
    this.#budgets = budgets;
    return this.#answers;
  }
}

const signatureLimit = 64;
