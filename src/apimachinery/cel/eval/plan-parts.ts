/** What plans are made of: how an expression is evaluated, and what chains of selections cost. */
import type { Frame, Step } from "./frame.ts";
import { Optional } from "./values.ts";
import type { Value } from "./values.ts";

/** How an expression is evaluated. */
export interface Plan {
  readonly run: Step;
  /** For chains of selections: without the charge for the start. */
  readonly look: Step;
  readonly isChain: boolean;
  /** What starting the chain costs. */
  readonly startCost: number;
  /** Known before evaluating, and free. */
  readonly constant?: Value;
}

/** A fault that shows while planning: a conversion of a literal that fails. */
export class PlanError extends Error {
  override name = "PlanError";
}

export const chainStart = 1;
export const linkCost = 1;

export function constant(known: Value): Plan {
  const run: Step = () => known;
  return { run, look: run, isChain: false, startCost: 0, constant: known };
}

export function value(run: Step): Plan {
  return { run, look: run, isChain: false, startCost: 0 };
}

export function chain(look: Step, startCost: number): Plan {
  if (startCost === 0) return { run: look, look, isChain: true, startCost };
  const run: Step = (frame) => {
    const found = look(frame);
    frame.charge(startCost);
    return found;
  };
  return { run, look, isChain: true, startCost };
}

/** Links that lead to nothing are free. */
export function charged(frame: Frame, found: Value): Value {
  if (found instanceof Optional && found.value !== undefined) frame.charge(linkCost);
  return found;
}
