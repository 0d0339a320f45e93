/**
 * All priority levels and flow schemas at work, as the stored objects say; and who may borrow whose seats. A level whose object is gone
 * lingers until its last request is done, and no schema leads to it. What must exist exists here even when nobody has stored it.
 *
 * The limits are adjusted for each period that has passed when somebody looks: an idle server has no timer.
 */
import { fixedFlowSchemas, fixedPriorityLevels } from "../../api/flowcontrol-v1/fixed-specs.ts";
import type { FlowSchema, PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from "../../api/flowcontrol-v1/types.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { ResourceCache } from "../cache/resource-cache.ts";
import { follow } from "../cache/follow.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { Flow } from "./flow.ts";
import type { FlowMetrics } from "./flow-metrics.ts";
import { PriorityLevel } from "./priority-level.ts";
import { allotSeats, seatLimits, smoothDemand, smoothSteadyDemand } from "./queues/seat-limits.ts";
import type { SeatRequest } from "./queues/seat-request.ts";

/** Time between two adjustments of what levels borrow. */
export const adjustMs = 10_000;

export interface LevelsOptions {
  readonly schemas: ResourceCache;
  readonly levels: ResourceCache;
  readonly metrics: FlowMetrics;
  /** Seats of the whole server. */
  readonly serverSeats: number;
}

export class Levels {
  readonly #options: LevelsOptions;
  readonly #refresh: readonly (() => void)[];
  readonly #levels = new Map<string, PriorityLevel>();
  #flows: readonly Flow[] | undefined;
  #nextAdjustMs: number;
  #fairFraction = 0;

  constructor(options: LevelsOptions, nowMs: number) {
    this.#options = options;
    this.#nextAdjustMs = nowMs + adjustMs;
    const forget = () => (this.#flows = undefined);
    this.#refresh = [options.schemas, options.levels].map((cache) => follow(cache, { reset: forget, apply: forget }));
  }

  get nextAdjustMs(): number {
    return this.#nextAdjustMs;
  }

  get fairFraction(): number {
    return this.#fairFraction;
  }

  /** In order of their names. */
  all(): PriorityLevel[] {
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Follows what changed since; returns the requests that may start because of it. */
  update(nowMs: number): readonly SeatRequest[] {
    for (const refresh of this.#refresh) refresh();
    const started = this.#flows === undefined ? this.#read(nowMs) : [];
    return nowMs >= this.#nextAdjustMs ? [...started, ...this.#adjust(nowMs)] : started;
  }

  /** The flow of a request. `update` comes first. */
  flowOf(user: UserInfo, info: RequestInfo): Flow {
    const flows = this.#flows!;
    for (const flow of flows) if (flow.matches(user, info)) return flow;
    // Unreachable while the schema that catches all matches everybody.
    return flows.at(-1)!;
  }

  #read(nowMs: number): readonly SeatRequest[] {
    const specs = this.#specs();
    const limits = seatLimits(new Map([...specs].map(([name, { spec }]) => [name, spec])), this.#options.serverSeats);
    const started: SeatRequest[] = [];
    for (const [name, { spec }] of specs) started.push(...this.#configure(name, spec, { limits: limits.get(name)!, nowMs }));
    for (const level of this.#levels.values()) {
      level.isQuiescing = !specs.has(level.name);
      if (level.isQuiescing && level.isIdle) this.#levels.delete(level.name);
    }
    this.#flows = this.#schemas().flatMap((schema) => {
      const level = this.#levels.get(schema.spec!.priorityLevelConfiguration.name);
      return level === undefined || level.isQuiescing
        ? []
        : [new Flow(schema, level, { levelUid: specs.get(level.name)!.uid, metrics: this.#options.metrics })];
    });
    return started;
  }

  #configure(
    name: string,
    spec: PriorityLevelConfigurationSpec,
    { limits, nowMs }: { limits: PriorityLevel["limits"]; nowMs: number },
  ): readonly SeatRequest[] {
    const known = this.#levels.get(name);
    if (known === undefined) {
      const level = new PriorityLevel(name, spec, { samples: this.#options.metrics.samplesOf(name), nowMs });
      level.target = limits.nominal;
      this.#levels.set(name, level);
      return [...level.configure(spec, limits, nowMs), ...level.setLimit(limits.nominal, nowMs)];
    }
    const limit = Math.min(limits.upper, Math.max(limits.lower, known.queueSet.limit));
    return [...known.configure(spec, limits, nowMs), ...known.setLimit(limit, nowMs)];
  }

  #specs(): Map<string, { readonly spec: PriorityLevelConfigurationSpec; readonly uid: string }> {
    const specs = new Map([...fixedPriorityLevels].map(([name, spec]) => [name, { spec, uid: "" }]));
    for (const [, stored] of this.#options.levels.state.entries()) {
      const { metadata, spec } = this.#options.levels.parse(stored) as unknown as PriorityLevelConfiguration;
      specs.set(metadata.name!, { spec: spec!, uid: metadata.uid ?? "" });
    }
    return specs;
  }

  /** In the order in which they are asked. */
  #schemas(): FlowSchema[] {
    const schemas = new Map([...fixedFlowSchemas].map(([name, spec]): [string, FlowSchema] => [name, { metadata: { name, uid: "" }, spec }]));
    for (const [, stored] of this.#options.schemas.state.entries()) {
      const schema = this.#options.schemas.parse(stored) as unknown as FlowSchema;
      schemas.set(schema.metadata.name!, schema);
    }
    return [...schemas.values()].sort(byPrecedence);
  }

  /** Looks at the demand of the period that is over, and of those after it in which nothing happened, and shares the seats anew. */
  #adjust(nowMs: number): readonly SeatRequest[] {
    const more = Math.floor((nowMs - this.#nextAdjustMs) / adjustMs);
    this.#nextAdjustMs += (more + 1) * adjustMs;
    const levels = [...this.#levels.values()].filter((level) => !level.isQuiescing);
    for (const level of levels) {
      level.lastPeriod = level.demand.take(nowMs);
      level.smoothed = smoothDemand(level.smoothed, level.lastPeriod);
      if (more > 0) level.smoothed = smoothSteadyDemand(level.smoothed, level.demand.current, more);
    }
    const { allotments, fairFraction } = allotSeats(
      levels.map((level) => ({ ...level.limits, isExempt: level.isExempt, peak: level.lastPeriod.peak, smoothed: level.smoothed })),
      this.#options.serverSeats,
    );
    this.#fairFraction = fairFraction;
    return levels.flatMap((level, index) => {
      level.target = allotments[index]!.target;
      return level.setLimit(allotments[index]!.limit, nowMs);
    });
  }
}

function byPrecedence(a: FlowSchema, b: FlowSchema): number {
  return (a.spec!.matchingPrecedence ?? 0) - (b.spec!.matchingPrecedence ?? 0) || (a.metadata.name! < b.metadata.name! ? -1 : 1);
}
