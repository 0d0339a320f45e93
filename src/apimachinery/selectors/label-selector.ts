/**
 * Label selectors (API concept "Labels and Selectors"): the text form of queries, the object form metav1.LabelSelector, matching.
 * A selector is a conjunction of requirements, sorted by key; `nothingSelector` is what an absent metav1.LabelSelector means.
 */
import { newRequirement, parseInteger, SelectorError } from "./label-requirement.ts";
import type { LabelOperator, LabelRequirement } from "./label-requirement.ts";
import { parseRequirements } from "./label-selector-parser.ts";

export { SelectorError } from "./label-requirement.ts";
export type { LabelOperator, LabelRequirement } from "./label-requirement.ts";

/** Parses the text of a `labelSelector` parameter. Throws `SelectorError` with Kubernetes' text (a 400 of the caller). */
export function parseLabelSelector(text: string): LabelSelector {
  return selectorOf(parseRequirements(text));
}

export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  readonly selectsNothing: boolean;
}

/** The object form, metav1.LabelSelector. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

export const everythingSelector: LabelSelector = { requirements: [], selectsNothing: false };
export const nothingSelector: LabelSelector = { requirements: [], selectsNothing: true };

/** Whether `labels` satisfy every requirement. */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  if (selector.selectsNothing) return false;
  return selector.requirements.every((requirement) => satisfies(requirement, labels));
}

/** The selector of a metav1.LabelSelector: absent selects nothing, empty everything. Throws `SelectorError`. */
export function selectorFromObject(object: LabelSelectorObject | null | undefined): LabelSelector {
  if (object === null || object === undefined) return nothingSelector;
  const byLabels = Object.entries(object.matchLabels ?? {}).map(([key, value]) => newRequirement(key, "=", [value]));
  const byExpressions = (object.matchExpressions ?? []).map(({ key, operator, values }) => {
    const known = objectOperators.get(operator);
    if (known === undefined) throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`);
    return newRequirement(key, known, values ?? []);
  });
  return selectorOf([...byLabels, ...byExpressions]);
}

/** The selector that asks for exactly these labels; their syntax is not checked. */
export function selectorFromLabels(labels: Readonly<Record<string, string>>): LabelSelector {
  return selectorOf(Object.entries(labels).map(([key, value]) => ({ key, operator: "=", values: new Set([value]) })));
}

/** The canonical text, sorted by key: `app=x,tier notin (a,b),!old`. Empty for everything and for nothing. */
export function labelSelectorText(selector: LabelSelector): string {
  return selector.requirements.map(requirementText).join(",");
}

const objectOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

function selectorOf(requirements: LabelRequirement[]): LabelSelector {
  return { requirements: requirements.sort((a, b) => compare(a.key, b.key)), selectsNothing: false };
}

function satisfies(requirement: LabelRequirement, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { key, operator, values } = requirement;
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return value !== undefined && values.has(value);
    case "notin":
    case "!=":
      return value === undefined || !values.has(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt": {
      const actual = value === undefined ? undefined : parseInteger(value);
      const limit = parseInteger([...values][0] ?? "");
      if (actual === undefined || limit === undefined) return false;
      return operator === "gt" ? actual > limit : actual < limit;
    }
  }
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "!":
      return `!${key}`;
    case "exists":
      return key;
    case "in":
    case "notin":
      return `${key} ${operator} (${[...values].sort(compare).join(",")})`;
    default:
      return `${key}${operator === "gt" ? ">" : operator === "lt" ? "<" : operator}${[...values].join("")}`;
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
