/**
 * Label selectors (API concept "Labels and Selectors"): the text form of queries, the object form metav1.LabelSelector, matching.
 * A selector is a conjunction of requirements, sorted by key; `nothingSelector` is what an absent metav1.LabelSelector means.
 */
import { fieldErrorText, invalid, notSupported } from "../field-error.ts";
import type { FieldError } from "../field-error.ts";
import { FieldPath } from "../field-path.ts";
import { isLabelValue, isQualifiedName } from "../names.ts";
import { parseRequirements } from "./label-selector-parser.ts";

/** Parses the text of a `labelSelector` parameter. Throws `SelectorError` with Kubernetes' text (a 400 of the caller). */
export function parseLabelSelector(text: string): LabelSelector {
  return selectorOf(parseRequirements(text).map(({ key, operator, values }) => newRequirement(key, operator, values)));
}

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: ReadonlySet<string>;
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

/** A selector's text or object that cannot be used. */
export class SelectorError extends Error {
  override name = "SelectorError";
  readonly reason = "BadSelector";
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

/** Makes a requirement, or throws `SelectorError` with every fault of key, operator and values. */
function newRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const faults = [...keyFaults(key, FieldPath.root("key")), ...countFaults(operator, values), ...valueFaults(key, values)];
  const texts = [...new Set(faults.map(fieldErrorText))];
  if (texts.length > 0) throw new SelectorError(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`);
  return { key, operator, values: new Set(values) };
}

/** Faults of a label key; the parser reports them at the root, requirements at `key`. */
export function keyFaults(key: string, path: FieldPath): FieldError[] {
  const faults = isQualifiedName(key);
  return faults.length === 0 ? [] : [invalid(path, key, faults.join("; "))];
}

const valuesPath = FieldPath.root("values");

function countFaults(operator: LabelOperator, values: readonly string[]): FieldError[] {
  switch (operator) {
    case "in":
    case "notin":
      return values.length > 0 ? [] : [invalid(valuesPath, [], "for 'in', 'notin' operators, values set can't be empty")];
    case "=":
    case "==":
    case "!=":
      return values.length === 1 ? [] : [invalid(valuesPath, values, "exact-match compatibility requires one single value")];
    case "exists":
    case "!":
      return values.length === 0 ? [] : [invalid(valuesPath, values, "values set must be empty for exists and does not exist")];
    case "gt":
    case "lt": {
      const faults = values.length === 1 ? [] : [invalid(valuesPath, values, "for 'Gt', 'Lt' operators, exactly one value is required")];
      const wrong = values.flatMap((value, index) => (parseInteger(value) === undefined ? [invalid(valuesPath.index(index), value, "for 'Gt', 'Lt' operators, the value must be an integer")] : []));
      return [...faults, ...wrong];
    }
    default:
      return [notSupported(FieldPath.root("operator"), operator, ["!", "!=", "=", "==", "exists", "gt", "in", "lt", "notin"])];
  }
}

function valueFaults(key: string, values: readonly string[]): FieldError[] {
  return values.flatMap((value, index) => {
    const faults = isLabelValue(value);
    return faults.length === 0 ? [] : [invalid(valuesPath.index(index).key(key), value, faults.join("; "))];
  });
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

/** Go's ParseInt(text, 10, 64). */
function parseInteger(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
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
