/** A flow schema at work: what it matches, where it leads, and the queues that each of its flows may use. */
import type { FlowSchema } from "../../api/flowcontrol-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { FlowMetrics, FlowSeries } from "./flow-metrics.ts";
import { SchemaMatcher } from "./matching.ts";
import type { PriorityLevel } from "./priority-level.ts";
import { dealHand } from "./queues/shuffle-sharding.ts";

/** Hands that are remembered; beyond that all are dealt anew. */
const handLimit = 4096;

export class Flow {
  readonly name: string;
  readonly level: PriorityLevel;
  /** What every answer to a request of this flow says. */
  readonly headers: Readonly<Record<string, string>>;
  readonly series: FlowSeries;
  readonly #matcher: SchemaMatcher;
  readonly #distinguisher: string | undefined;
  readonly #hands = new Map<string, Uint32Array>();

  constructor(schema: FlowSchema, level: PriorityLevel, { levelUid, metrics }: { readonly levelUid: string; readonly metrics: FlowMetrics }) {
    this.#matcher = new SchemaMatcher(schema);
    this.#distinguisher = schema.spec!.distinguisherMethod?.type;
    this.name = schema.metadata.name!;
    this.level = level;
    this.headers = { "x-kubernetes-pf-flowschema-uid": schema.metadata.uid ?? "", "x-kubernetes-pf-prioritylevel-uid": levelUid };
    this.series = metrics.seriesOf(this.name, level.name);
  }

  matches(user: UserInfo, info: RequestInfo): boolean {
    return this.#matcher.matches(user, info);
  }

  /** What keeps the flows of this schema apart; nothing where there are not several queues. */
  distinguisherOf(user: UserInfo, info: RequestInfo): string {
    if (this.level.queueSet.queueCount <= 1) return "";
    switch (this.#distinguisher) {
      case "ByUser":
        return user.username;
      case "ByNamespace":
        return info.namespace;
      default:
        return "";
    }
  }

  /** The queues that a flow may use. */
  handOf(distinguisher: string): Uint32Array {
    let hand = this.#hands.get(distinguisher);
    if (hand === undefined) {
      if (this.#hands.size >= handLimit) this.#hands.clear();
      const { queueSet, handSize } = this.level;
      this.#hands.set(distinguisher, (hand = dealHand({ schema: this.name, distinguisher }, queueSet.queueCount, Math.min(handSize, queueSet.queueCount))));
    }
    return hand;
  }
}
