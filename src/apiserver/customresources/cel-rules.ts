/** The CEL rules of a version's schema (x-kubernetes-validations), checked when everything else about an object is right. */
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RuleContext } from "../../api/strategy.ts";

export interface RuleSet {
  /** Faults of an object; `errors` are those that are known already, `old` is absent for a creation. */
  check(object: KubeObject, old: KubeObject | undefined, errors: readonly FieldError[], context: RuleContext): FieldError[];
}

/** For schemas without rules. */
export const noRules: RuleSet = { check: () => [] };
