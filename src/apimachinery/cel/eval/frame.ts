/** State of one evaluation: variables, locals of the folds that are open, and the cost so far. */
import type { Value } from "./values.ts";

export interface Activation {
  /** Undefined when there is no such variable. */
  get(name: string): Value | undefined;
}

export class Frame {
  readonly activation: Activation;
  /** Undefined: bound, but not evaluated yet. */
  readonly locals: (Value | undefined)[] = [];
  readonly limit: number;
  cost = 0;

  constructor(activation: Activation, limit: number) {
    this.activation = activation;
    this.limit = limit;
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostExceeded();
  }
}

/** Ends an evaluation that costs more than it may. Never leaves this folder. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** Evaluates an expression in a frame. */
export type Step = (frame: Frame) => Value;
