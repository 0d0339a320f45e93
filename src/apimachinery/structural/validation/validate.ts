/**
 * Checks a value against a structural schema. Texts, causes and their order are Kubernetes' (it validates with OpenAPI's rules for JSON
 * schemas): logical junctors report the branch that came nearest, and faults that belong to no keyword of a field are told without a field.
 */
import { codePointLength } from "../../cel/source.ts";
import { duplicate, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "../../field-error.ts";
import type { FieldError } from "../../field-error.ts";
import { FieldPath } from "../../field-path.ts";
import { deepEqual, isObject, isRawNumber } from "../../json.ts";
import type { JsonObject, JsonValue, RawNumber } from "../../json.ts";
import type { Bound, StructuralSchema } from "../structural-schema.ts";
import { hasFormat } from "./formats.ts";
import { goNumber, isInteger, isMultiple, isNumber, isOutOfRange, numberOf } from "./numbers.ts";

/**
 * All faults of `value`. `prefix` is what the fields of causes begin with; texts do not show it. With `old`, faults of values that the
 * update leaves as they were are passed over (KEP-4008).
 */
export function schemaErrors(value: JsonValue, schema: StructuralSchema, options: { readonly prefix?: string; readonly old?: JsonValue } = {}): FieldError[] {
  return check(value, schema, { name: "", prefix: options.prefix ?? "", old: options.old }).errors;
}

/** `name` is how texts speak of the value; `old` what stood in its place before, undefined when that cannot be told. */
interface Place {
  readonly name: string;
  readonly prefix: string;
  readonly old: JsonValue | undefined;
}

/** `weight` tells branches of a junctor apart: how many rules came to be tried. */
interface Outcome {
  errors: FieldError[];
  weight: number;
}

function check(value: JsonValue, schema: StructuralSchema, place: Place): Outcome {
  const outcome: Outcome = { errors: [], weight: 0 };
  if (value === null) checkNull(schema, place, outcome);
  else checkRules(value, schema, place, outcome);
  if (outcome.errors.length > 0 && place.old !== undefined && deepEqual(value, place.old)) outcome.errors = [];
  return outcome;
}

function checkRules(value: Exclude<JsonValue, null>, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  checkType(value, schema, place, outcome);
  checkJunctors(value, schema, place, outcome);
  if (typeof value === "string") {
    checkText(value, schema, place, outcome);
    if (schema.format !== "") checkFormat(value, schema.format, place, outcome);
  } else if (isNumber(value)) checkNumber(value, schema, place, outcome);
  else if (Array.isArray(value)) checkList(value, schema, place, outcome);
  checkValues(value, schema, place, outcome);
  if (isObject(value)) checkObject(value, schema, place, outcome);
}

function merge(outcome: Outcome, other: Outcome): void {
  outcome.errors.push(...other.errors);
  outcome.weight += other.weight;
}

function pathOf({ name, prefix }: Place): FieldPath {
  const text = prefix === "" ? name : name === "" ? prefix : `${prefix}.${name}`;
  return FieldPath.root(text);
}

function fault(place: Place, outcome: Outcome, value: unknown, detail: string): void {
  outcome.errors.push(invalid(pathOf(place), value, `${place.name} in body ${detail}`));
}

/** A fault that is told without a field of its own. */
function bareFault(place: Place, outcome: Outcome, message: string): void {
  outcome.errors.push(invalid(FieldPath.root(place.prefix), "", message));
}

/** Names of the types that a schema allows; empty: any. */
function typesOf(schema: StructuralSchema): string[] {
  if (schema.type !== "") return [schema.type];
  return schema.isIntOrString ? ["integer", "string"] : [];
}

function checkNull(schema: StructuralSchema, place: Place, outcome: Outcome): void {
  const types = typesOf(schema);
  if (types.length > 0 && !schema.isNullable) wrongType(place, outcome, types, "null");
  checkValues(null, schema, place, outcome);
}

function checkType(value: JsonValue, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  outcome.weight++;
  const types = typesOf(schema);
  if (types.length === 0) return;
  const found = typeName(value);
  if (types.includes(found) || (found === "integer" && types.includes("number"))) return;
  wrongType(place, outcome, types, found);
}

function wrongType(place: Place, outcome: Outcome, types: readonly string[], found: string): void {
  outcome.errors.push(typeInvalid(pathOf(place), found, `${place.name} in body must be of type ${types.join(",")}: ${JSON.stringify(found)}`));
}

function typeName(value: JsonValue): string {
  if (isNumber(value)) return isInteger(value) ? "integer" : "number";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function checkJunctors(value: JsonValue, schema: StructuralSchema, { name, prefix }: Place, outcome: Outcome): void {
  outcome.weight++;
  // Branches judge the value as a whole.
  const place: Place = { name, prefix, old: undefined };
  if (schema.anyOf.length > 0) checkAnyOf(value, schema.anyOf, place, outcome);
  if (schema.oneOf.length > 0) checkOneOf(value, schema.oneOf, place, outcome);
  if (schema.allOf.length > 0) checkAllOf(value, schema.allOf, place, outcome);
  if (schema.not !== undefined && check(value, schema.not, place).errors.length === 0)
    bareFault(place, outcome, `"${place.name}" must not validate the schema (not)`);
}

function checkAnyOf(value: JsonValue, branches: readonly StructuralSchema[], place: Place, outcome: Outcome): void {
  const failures: Outcome[] = [];
  for (const branch of branches) {
    const result = check(value, branch, place);
    if (result.errors.length === 0) return;
    failures.push(result);
  }
  bareFault(place, outcome, `"${place.name}" must validate at least one schema (anyOf)`);
  merge(outcome, nearest(failures));
}

function checkOneOf(value: JsonValue, branches: readonly StructuralSchema[], place: Place, outcome: Outcome): void {
  const results = branches.map((branch) => check(value, branch, place));
  const passed = results.filter((result) => result.errors.length === 0);
  if (passed.length === 1) {
    merge(outcome, passed[0]!);
    return;
  }
  const detail = passed.length === 0 ? "Found none valid" : `Found ${passed.length} valid alternatives`;
  bareFault(place, outcome, `"${place.name}" must validate one and only one schema (oneOf). ${detail}`);
  if (passed.length === 0) merge(outcome, nearest(results));
}

/** The first of those that tried the most rules. */
function nearest(results: readonly Outcome[]): Outcome {
  return results.reduce((best, result) => (result.weight > best.weight ? result : best));
}

function checkAllOf(value: JsonValue, branches: readonly StructuralSchema[], place: Place, outcome: Outcome): void {
  let passed = 0;
  for (const branch of branches) {
    const result = check(value, branch, place);
    if (result.errors.length === 0) passed++;
    merge(outcome, result);
  }
  if (passed < branches.length) bareFault(place, outcome, `"${place.name}" must validate all the schemas (allOf)${passed === 0 ? ". None validated" : ""}`);
}

/** The first fault counts. */
function checkText(value: string, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  outcome.weight++;
  const { maxLength, minLength, pattern } = schema;
  // A text has at most as many code points as code units, and at least half as many: they are seldom counted.
  if (maxLength !== undefined && value.length > maxLength && codePointLength(value) > maxLength) outcome.errors.push(tooLong(pathOf(place), maxLength));
  else if (minLength !== undefined && value.length < 2 * minLength && codePointLength(value) < minLength)
    fault(place, outcome, value, `should be at least ${minLength} chars long`);
  else if (pattern !== undefined && !pattern.matches(value)) fault(place, outcome, value, `should match '${pattern.text}'`);
}

function checkFormat(value: string, format: string, place: Place, outcome: Outcome): void {
  outcome.weight++;
  if (!hasFormat(value, format))
    outcome.errors.push(typeInvalid(pathOf(place), value, `${place.name} in body must be of type ${format}: ${JSON.stringify(value)}`));
}

function checkNumber(value: number | RawNumber, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  outcome.weight++;
  const { multipleOf, minimum, maximum, format } = schema;
  const { type } = schema;
  const number = numberOf(value);
  if (isOutOfRange(value, type, format))
    bareFault(place, outcome, `Checked value must be of type ${type} ${format === "" ? "(default format)" : `with format ${format}`} in ${place.name}`);
  if (multipleOf !== undefined && !isMultiple(number, multipleOf)) fault(place, outcome, value, `should be a multiple of ${goNumber(multipleOf)}`);
  if (minimum !== undefined && !isAbove(number, minimum))
    fault(place, outcome, value, `should be greater than ${minimum.isExclusive ? "" : "or equal to "}${goNumber(minimum.value)}`);
  if (maximum !== undefined && !isBelow(number, maximum))
    fault(place, outcome, value, `should be less than ${maximum.isExclusive ? "" : "or equal to "}${goNumber(maximum.value)}`);
}

function isAbove(number: number, bound: Bound): boolean {
  return bound.isExclusive ? number > bound.value : number >= bound.value;
}

function isBelow(number: number, bound: Bound): boolean {
  return bound.isExclusive ? number < bound.value : number <= bound.value;
}

function checkList(list: readonly JsonValue[], schema: StructuralSchema, place: Place, outcome: Outcome): void {
  outcome.weight++;
  const { items, minItems, maxItems } = schema;
  if (items !== undefined) {
    const before = earlierItems(schema, place.old);
    for (const [index, item] of list.entries())
      merge(outcome, check(item, items, { name: `${place.name}[${index}]`, prefix: place.prefix, old: before(item) }));
  }
  if (minItems !== undefined && list.length < minItems) fault(place, outcome, list.length, `should have at least ${minItems} items`);
  if (maxItems !== undefined && list.length > maxItems) outcome.errors.push(tooMany(pathOf(place), list.length, maxItems));
  if (schema.hasUniqueItems && list.some((item, index) => list.slice(0, index).some((other) => deepEqual(item, other))))
    outcome.errors.push(duplicate(pathOf(place), list));
}

/** What an item was before: items of lists with keys are told apart by them, others not at all. */
function earlierItems(schema: StructuralSchema, old: JsonValue | undefined): (item: JsonValue) => JsonValue | undefined {
  if (!Array.isArray(old) || schema.listType !== "map") return () => undefined;
  const keysOf = (item: JsonValue) => (isObject(item) ? JSON.stringify(schema.listMapKeys.map((key) => item[key] ?? null)) : "");
  const byKeys = new Map(old.map((item) => [keysOf(item), item]));
  return (item) => byKeys.get(keysOf(item));
}

function checkValues(value: JsonValue, { values }: StructuralSchema, place: Place, outcome: Outcome): void {
  outcome.weight++;
  if (values === undefined || values.some((allowed) => isSameValue(allowed, value))) return;
  outcome.errors.push(
    notSupported(
      pathOf(place),
      value,
      values.map((allowed) => (typeof allowed === "string" ? allowed : JSON.stringify(allowed))),
    ),
  );
}

function isSameValue(allowed: JsonValue, value: JsonValue): boolean {
  if (isNumber(allowed) && isNumber(value))
    return isRawNumber(allowed) && isRawNumber(value) ? allowed.rawJSON === value.rawJSON : numberOf(allowed) === numberOf(value);
  return deepEqual(allowed, value);
}

function checkObject(object: JsonObject, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  outcome.weight++;
  const names = Object.keys(object);
  const { minProperties, maxProperties, additionalProperties, properties } = schema;
  if (minProperties !== undefined && names.length < minProperties) {
    fault(place, outcome, names.length, `should have at least ${minProperties} properties`);
    return;
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    outcome.errors.push(tooMany(pathOf(place), names.length, maxProperties));
    return;
  }
  const before = isObject(place.old) ? place.old : {};
  const member = (name: string): Place => ({
    name: place.name === "" ? name : `${place.name}.${name}`,
    prefix: place.prefix,
    old: Object.hasOwn(before, name) ? before[name] : undefined,
  });
  if (additionalProperties !== undefined && additionalProperties !== true) {
    for (const name of names) {
      if (properties.has(name)) continue;
      if (additionalProperties === false) outcome.errors.push(invalid(pathOf(place), name, `${member(name).name} in body is a forbidden property`));
      else merge(outcome, check(object[name]!, additionalProperties, member(name)));
    }
  }
  for (const [name, property] of properties) if (Object.hasOwn(object, name)) merge(outcome, check(object[name]!, property, member(name)));
  for (const name of schema.required) if (!Object.hasOwn(object, name)) outcome.errors.push(required(pathOf(member(name))));
}
