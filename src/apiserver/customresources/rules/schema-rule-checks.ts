/**
 * Faults of the CEL rules in a definition's schema: their texts, whether they compile, what they may cost at most. Limits and texts are
 * Kubernetes' (documentation page "CustomResourceDefinitions: Resource use by validation functions").
 */
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { forbidden, internalError, invalid, notSupported, required } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { maxRequestBytes } from "../../../apimachinery/cel/index.ts";
import type { DeclaredType } from "../../../apimachinery/cel/index.ts";
import { isObject } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import { compileRules, rulesOf, worstCost } from "./compiled-rules.ts";
import type { CompiledRule, RuleSource } from "./compiled-rules.ts";
import { rulePath } from "./rule-paths.ts";

/** Faults of every rule in `schema`, which stands at `path`. */
export function schemaRuleErrors(schema: Readonly<Record<string, unknown>>, path: FieldPath): FieldError[] {
  const costs: RuleCost[] = [];
  const errors = nodeErrors(schema as JsonObject, { path, cardinality: 1, isRoot: true, uncorrelatable: undefined, costs });
  const total = costs.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= schemaCostLimit) return errors.all;
  const dearest = costs
    .filter(({ cost }) => cost >= schemaCostLimit / 100)
    .toSorted((a, b) => b.cost - a.cost)
    .slice(0, 4);
  return [
    ...errors.all,
    ...dearest.map((each) => forbidden(each.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema")),
    forbidden(path, costText("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", total, schemaCostLimit)),
  ];
}

const ruleCostLimit = 10_000_000;
const schemaCostLimit = 100_000_000;

interface RuleCost {
  readonly path: FieldPath;
  readonly cost: number;
}

interface Place {
  readonly path: FieldPath;
  /** How many values of the schema an object has at most; undefined: without bound. */
  readonly cardinality: number | undefined;
  readonly isRoot: boolean;
  /** The list around it whose old and new items cannot be told together. */
  readonly uncorrelatable: FieldPath | undefined;
  readonly costs: RuleCost[];
}

/** `isTextFault`: some fault is not CEL's, so that nothing above is compiled. */
interface NodeErrors {
  readonly all: FieldError[];
  isTextFault: boolean;
}

function nodeErrors(schema: JsonObject, place: Place): NodeErrors {
  const found: NodeErrors = { all: [], isTextFault: false };
  for (const [child, childPlace] of childrenOf(schema, place)) {
    const inner = nodeErrors(child, childPlace);
    found.all.push(...inner.all);
    found.isTextFault ||= inner.isTextFault;
  }
  const sources = rulesOf(schema);
  const texts = sources.flatMap((source, index) => textErrors(source, schema, place.path.child("x-kubernetes-validations").index(index)));
  found.all.push(...texts);
  found.isTextFault ||= texts.length > 0;
  if (!found.isTextFault && sources.length > 0) found.all.push(...compileErrors(schema, place));
  return found;
}

function childrenOf(schema: JsonObject, place: Place): [JsonObject, Place][] {
  const { path, costs } = place;
  const children: [JsonObject, Place][] = [];
  const { uncorrelatable } = place;
  const { properties, additionalProperties, items } = schema;
  if (isObject(additionalProperties))
    children.push([
      additionalProperties,
      { path: path.child("additionalProperties"), cardinality: times(place.cardinality, schema["maxProperties"]), isRoot: false, uncorrelatable, costs },
    ]);
  if (isObject(properties)) {
    for (const name of Object.keys(properties).sort())
      children.push([
        properties[name] as JsonObject,
        { path: path.child("properties").key(name), cardinality: place.cardinality, isRoot: false, uncorrelatable, costs },
      ]);
  }
  if (isObject(items)) {
    const isKeyed = schema["x-kubernetes-list-type"] === "map";
    children.push([
      items,
      {
        path: path.child("items"),
        cardinality: times(place.cardinality, schema["maxItems"]),
        isRoot: false,
        uncorrelatable: uncorrelatable ?? (isKeyed ? undefined : path),
        costs,
      },
    ]);
  }
  return children;
}

function times(cardinality: number | undefined, max: JsonValue | undefined): number | undefined {
  return cardinality === undefined || typeof max !== "number" ? undefined : cardinality * max;
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const hasLineBreak = (text: string) => /[\n\r]/.test(text);

function textErrors(source: RuleSource, schema: JsonObject, path: FieldPath): FieldError[] {
  const { rule = "", message = "", messageExpression = "", reason, fieldPath = "" } = source;
  const errors: FieldError[] = [];
  if (rule.trim() === "") errors.push(required(path.child("rule"), "rule is not specified"));
  if (message !== "" && message.trim() === "") errors.push(invalid(path.child("message"), message, "must be non-empty if specified"));
  else if (hasLineBreak(message.trim())) errors.push(invalid(path.child("message"), message, "must not contain line breaks"));
  else if (hasLineBreak(rule.trim()) && message.trim() === "")
    errors.push(required(path.child("message"), "message must be specified if rule contains line breaks"));
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(required(path.child("messageExpression"), "messageExpression must be non-empty if specified"));
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(path.child("reason"), reason, reasons));
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "") errors.push(invalid(path.child("fieldPath"), fieldPath, "must be non-empty if specified"));
  else if (hasLineBreak(fieldPath)) errors.push(invalid(path.child("fieldPath"), fieldPath, "must not contain line breaks"));
  if (rulePath(fieldPath, schema, FieldPath.root()) === undefined) errors.push(invalid(path.child("fieldPath"), fieldPath, "must be a valid path"));
  return errors;
}

function compileErrors(schema: JsonObject, place: Place): FieldError[] {
  const path = place.path.child("x-kubernetes-validations");
  const compiled = compileRules(schema, place.isRoot || schema["x-kubernetes-embedded-resource"] === true);
  if (compiled === undefined)
    return [
      internalError(
        path,
        "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations",
      ),
    ];
  return compiled.rules.flatMap((rule, index) => ruleErrors(rule, compiled.declared, path.index(index), place));
}

function ruleErrors(rule: CompiledRule, declared: DeclaredType, path: FieldPath, place: Place): FieldError[] {
  const errors: FieldError[] = [];
  const { source } = rule;
  if (rule.program !== undefined) {
    const perValue = place.cardinality ?? Math.floor(maxRequestBytes / (declared.minSize + 1));
    errors.push(...costErrors(path.child("rule"), "estimated rule cost", worstCost(rule.program, declared) * perValue, place.costs));
  }
  if (rule.fault !== undefined) errors.push(ruleInvalid(path.child("rule"), source, rule.fault));
  if (rule.messageFault !== undefined) errors.push(ruleInvalid(path.child("messageExpression"), source, rule.messageFault));
  else if (rule.messageProgram !== undefined)
    errors.push(...costErrors(path.child("messageExpression"), "estimated messageExpression cost", worstCost(rule.messageProgram, declared), place.costs));
  if (rule.usesOldSelf) {
    if (place.uncorrelatable !== undefined)
      errors.push(
        invalid(
          path.child("rule"),
          source.rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable.toString()}`,
        ),
      );
  } else if (source.optionalOldSelf !== undefined && rule.program !== undefined)
    errors.push(invalid(path.child("optionalOldSelf"), source.optionalOldSelf, "may not be set if oldSelf is not used in rule"));
  return errors;
}

function costErrors(path: FieldPath, what: string, cost: number, costs: RuleCost[]): FieldError[] {
  costs.push({ path, cost });
  return cost > ruleCostLimit ? [forbidden(path, costText(what, cost, ruleCostLimit))] : [];
}

function costText(what: string, cost: number, limit: number): string {
  const times = cost / limit;
  const factor = times > 100 ? "more than 100x" : times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** The rule is shown as Go's encoder prints it. */
function ruleInvalid(
  path: FieldPath,
  { rule, message = "", messageExpression = "", reason, fieldPath = "", optionalOldSelf }: RuleSource,
  detail: string,
): FieldError {
  const shown = JSON.stringify({
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  });
  const escaped = shown.replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return { reason: "FieldValueInvalid", field: path.toString(), message: `Invalid value: ${escaped}: ${detail}` };
}
