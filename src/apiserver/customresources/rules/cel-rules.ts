/**
 * The CEL rules of a version's schema (x-kubernetes-validations), checked when everything else about an object is right. Faults of values
 * that an update leaves as they were become warnings, unless the rule compares with the old value (KEP-4008, KEP-2876).
 */
import { Optional, activationOf, evaluate, fromJson } from "../../../apimachinery/cel/index.ts";
import type { Activation, DeclaredType, Program } from "../../../apimachinery/cel/index.ts";
import { fieldErrorText, forbidden, invalid, invalidWithoutValue, required } from "../../../apimachinery/field-error.ts";
import type { FieldError } from "../../../apimachinery/field-error.ts";
import { FieldPath } from "../../../apimachinery/field-path.ts";
import { deepEqual, isObject } from "../../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { RuleContext } from "../../../api/strategy.ts";
import { compileRules, rulesOf } from "./compiled-rules.ts";
import type { CompiledRule } from "./compiled-rules.ts";
import { rulePath } from "./rule-paths.ts";

export interface RuleSet {
  /** Faults of an object; `errors` are those that are known already, `old` is absent for a creation. */
  check(object: KubeObject, old: KubeObject | undefined, errors: readonly FieldError[], context: RuleContext): FieldError[];
}

/** For schemas without rules. */
export const noRules: RuleSet = { check: () => [] };

/** The rules of a whole schema, compiled. */
export function ruleSet(schema: JsonObject): RuleSet {
  const root = ruleNode(schema, true);
  if (root === undefined) return noRules;
  return {
    check(object, old, errors, context) {
      if (errors.some(isBlocking))
        return [
          invalid(
            FieldPath.root(),
            null,
            "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
          ),
        ];
      const check = new RuleCheck(objectCostLimit);
      check.value(object as unknown as JsonValue, root, { path: FieldPath.root(), old: old as unknown as JsonValue | undefined, isUnchanged: undefined });
      for (const warning of check.warnings) context.warn?.(warning);
      return check.errors;
    },
  };
}

/** Faults of a value by the rules in its schema. */
export function valueRuleErrors(value: JsonValue, schema: JsonObject, path: FieldPath): FieldError[] {
  const node = ruleNode(schema, false);
  if (node === undefined) return [];
  const check = new RuleCheck(objectCostLimit);
  check.value(value, node, { path, old: undefined, isUnchanged: undefined });
  return check.errors;
}

/** What all rules together may cost for one object. */
const objectCostLimit = 10_000_000;
const isBlocking = ({ reason }: FieldError) =>
  reason === "FieldValueNotSupported" ||
  reason === "FieldValueRequired" ||
  reason === "FieldValueTooLong" ||
  reason === "FieldValueTooMany" ||
  reason === "FieldValueTypeInvalid";

/** The part of a schema that has rules in it. */
interface RuleNode {
  readonly schema: JsonObject;
  readonly typeName: string;
  readonly declared: DeclaredType | undefined;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  /** Keys of a list whose items are told apart by them. */
  readonly listKeys: readonly string[] | undefined;
  readonly isAtomic: boolean;
}

function ruleNode(schema: JsonObject, isRoot: boolean): RuleNode | undefined {
  const { properties, additionalProperties, items } = schema;
  const inner = (value: JsonValue | undefined) => (isObject(value) ? ruleNode(value, false) : undefined);
  const members = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]): [string, RuleNode][] => {
    const node = inner(property);
    return node === undefined ? [] : [[name, node]];
  });
  const [values, itemNode] = [inner(additionalProperties), inner(items)];
  if (rulesOf(schema).length === 0 && members.length === 0 && values === undefined && itemNode === undefined) return undefined;
  const compiled = rulesOf(schema).length === 0 ? undefined : compileRules(schema, isRoot || schema["x-kubernetes-embedded-resource"] === true);
  return {
    schema,
    typeName: typeof schema["type"] === "string" ? schema["type"] : "",
    declared: compiled?.declared,
    rules: compiled?.rules ?? [],
    properties: new Map(members),
    values,
    items: itemNode,
    listKeys: schema["x-kubernetes-list-type"] === "map" ? ((schema["x-kubernetes-list-map-keys"] as string[] | undefined) ?? []) : undefined,
    isAtomic: schema["x-kubernetes-map-type"] === "atomic",
  };
}

interface Place {
  readonly path: FieldPath;
  /** What stood there before, when that can be told. */
  readonly old: JsonValue | undefined;
  /** Whether the nearest value around it that can be compared is what it was. */
  readonly isUnchanged: (() => boolean) | undefined;
}

class RuleCheck {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  #budget: number;

  constructor(budget: number) {
    this.#budget = budget;
  }

  /** False when the budget is used up: nothing more is checked. */
  value(value: JsonValue, node: RuleNode, place: Place): boolean {
    const { old } = place;
    const here: Place = old === undefined ? place : { ...place, isUnchanged: once(() => deepEqual(value, old)) };
    if (node.declared !== undefined && !this.#rules(value, node, here)) return false;
    if (Array.isArray(value)) return this.#items(value, node, here);
    return isObject(value) ? this.#members(value, node, here) : true;
  }

  #members(object: JsonObject, node: RuleNode, place: Place): boolean {
    const before = isObject(place.old) && !node.isAtomic ? place.old : {};
    for (const [name, member] of Object.entries(object)) {
      const property = node.properties.get(name);
      const inner = property ?? (Object.hasOwn(isObject(node.schema["properties"]) ? node.schema["properties"] : {}, name) ? undefined : node.values);
      if (inner === undefined) continue;
      const path = property === undefined ? place.path.key(name) : place.path.child(name);
      if (!this.value(member, inner, { path, old: Object.hasOwn(before, name) ? before[name] : undefined, isUnchanged: place.isUnchanged })) return false;
    }
    return true;
  }

  #items(list: readonly JsonValue[], node: RuleNode, place: Place): boolean {
    const { items, listKeys } = node;
    if (items === undefined) return true;
    const keysOf = (item: JsonValue) => (isObject(item) ? JSON.stringify((listKeys ?? []).map((key) => item[key] ?? null)) : "");
    const before = new Map(listKeys !== undefined && Array.isArray(place.old) ? place.old.map((item) => [keysOf(item), item]) : []);
    return list.every((item, index) =>
      this.value(item, items, { path: place.path.index(index), old: before.get(keysOf(item)), isUnchanged: place.isUnchanged }),
    );
  }

  #rules(value: JsonValue, node: RuleNode, place: Place): boolean {
    const { type } = node.declared!;
    const self = () => fromJson(value, type);
    for (const rule of node.rules) {
      const { source, program, usesOldSelf } = rule;
      if (program === undefined) {
        this.#add(rule, place, invalid(place.path, node.typeName, `rule compile error: ${rule.fault ?? ""}`));
        continue;
      }
      const isOptional = source.optionalOldSelf === true;
      if (usesOldSelf && !isOptional && place.old === undefined) continue;
      const old = () => fromJson(place.old, type);
      const activation = activationOf({ self, oldSelf: isOptional ? () => (place.old === undefined ? Optional.none : new Optional(old())) : old });
      // Upstream's messages never see an optional old value, so that asking it for its value fails.
      const messageActivation = isOptional ? activationOf({ self, oldSelf: old }) : activation;
      if (!this.#rule(rule, program, { value, node, place, activation, messageActivation })) return false;
    }
    return true;
  }

  #rule(rule: CompiledRule, program: Program, target: Target): boolean {
    const { node, place } = target;
    const result = evaluate(program, target.activation);
    if ("error" in result && result.isCostExceeded) {
      this.#add(
        rule,
        place,
        invalid(
          place.path,
          node.typeName,
          `'${result.error}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule.source.rule.trim()}`,
        ),
      );
      return false;
    }
    if (result.cost > this.#budget) {
      this.#add(
        rule,
        place,
        invalid(place.path, node.typeName, "validation failed due to running out of cost budget, no further validation rules will be run"),
      );
      return false;
    }
    this.#budget -= result.cost;
    if ("error" in result) this.#add(rule, place, invalid(place.path, node.typeName, runtimeText(result.error, rule.source.rule.trim())));
    else if (result.value !== true) this.#add(rule, place, failure(rule, target, this.#message(rule, target.messageActivation)));
    return true;
  }

  /** What `messageExpression` says, when it gives one line of text; else the message, else the rule. */
  #message(rule: CompiledRule, activation: Activation): string {
    const { source, messageProgram } = rule;
    if (messageProgram !== undefined) {
      const result = evaluate(messageProgram, activation, { costBudget: this.#budget });
      this.#budget -= result.cost;
      const text = "value" in result && typeof result.value === "string" ? result.value.trim() : "";
      if (text !== "" && !/[\n\r]/.test(text)) return text;
    }
    const message = (source.message ?? "").trim();
    return message === "" ? `failed rule: ${source.rule.trim()}` : message;
  }

  #add(rule: CompiledRule, place: Place, error: FieldError): void {
    if (!rule.usesOldSelf && place.isUnchanged?.() === true) this.warnings.push(fieldErrorText(error));
    else this.errors.push(error);
  }
}

interface Target {
  readonly value: JsonValue;
  readonly node: RuleNode;
  readonly place: Place;
  readonly activation: Activation;
  readonly messageActivation: Activation;
}

function runtimeText(error: string, rule: string): string {
  if (error.startsWith("no such overload"))
    return `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`;
  return `${error} evaluating rule: ${rule}`;
}

/** Objects and lists are not shown. */
function failure({ source }: CompiledRule, { value, node, place }: Target, message: string): FieldError {
  const path = (source.fieldPath ?? "") === "" ? place.path : (rulePath(source.fieldPath!, node.schema, place.path) ?? place.path);
  switch (source.reason) {
    case "FieldValueForbidden":
      return forbidden(path, message);
    case "FieldValueRequired":
      return required(path, message);
    case "FieldValueDuplicate":
      return {
        ...invalid(path, value, ""),
        reason: "FieldValueDuplicate",
        message: Array.isArray(value) || isObject(value) ? "Duplicate value" : `Duplicate value: ${JSON.stringify(value)}`,
      };
    default:
      return Array.isArray(value) || isObject(value) ? invalidWithoutValue(path, message) : invalid(path, value, message);
  }
}

function once(compute: () => boolean): () => boolean {
  let known: boolean | undefined;
  return () => (known ??= compute());
}
