/** CEL's conformance suite, less what `conformance-remainder.json` lists: suites, sections and tests that Kubernetes does not use, with reasons. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tests as suites } from "@bufbuild/cel-spec/testdata/conformance.js";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "./check/types.ts";
import type { CelType } from "./check/types.ts";
import { createEnvironment } from "./environment.ts";
import { isEqual } from "./eval/compare.ts";
import { formatDouble } from "./eval/format-double.ts";
import { parseDuration } from "./eval/durations.ts";
import { parseTimestamp } from "./eval/timestamps.ts";
import { ArrayList, Double, ListValue, mapOf, MapValue, normalizeInt, typeNameOf, TypeValue, Uint } from "./eval/values.ts";
import type { Value } from "./eval/values.ts";
import { bindingsLibrary } from "./library/bindings.ts";
import { extendedListsLibrary } from "./library/extended-lists.ts";
import { optionalLibrary } from "./library/optionals.ts";
import { stringsLibrary } from "./library/strings.ts";
import { twoVariableLibrary } from "./library/two-variables.ts";
import { activationOf, compile, evaluate } from "./program.ts";

type Json = Record<string, unknown>;
interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly Case[];
}
interface Case {
  readonly original: Json & { readonly name?: string; readonly expr: string };
}

const remainder = new Map(Object.entries(JSON.parse(readFileSync(new URL("./conformance-remainder.json", import.meta.url), "utf8")) as Record<string, string>));
const libraries = [optionalLibrary, stringsLibrary, twoVariableLibrary, bindingsLibrary, { ...extendedListsLibrary, macros: [] }];

runSuite(suites as unknown as Suite, []);

function runSuite(suite: Suite, path: readonly string[]): void {
  const here = path.join("/");
  if (remainder.has(here)) return;
  for (const inner of suite.suites ?? []) runSuite(inner, [...path, inner.name]);
  const isListed = ({ original }: Case) => remainder.has(`${here}/${original.name}`);
  const cases = (suite.tests ?? []).filter((one) => !isListed(one));
  const listed = (suite.tests ?? []).filter(isListed);
  if (listed.length > 0)
    test(`conformance: ${here}: what is listed as a remainder still differs`, () => {
      const passing = listed.filter(({ original }) => runCase(original) === undefined).map(({ original }) => original.name);
      assert.deepEqual(passing, []);
    });
  if (cases.length === 0) return;
  test(`conformance: ${here}`, () => {
    const failures = cases.flatMap(({ original }) => {
      const fault = runCase(original);
      return fault === undefined ? [] : [`${original.name}: ${original.expr}\n  ${fault}`];
    });
    assert.deepEqual(failures, []);
  });
}

/** What is wrong, or undefined. */
function runCase(original: Json & { readonly expr: string }): string | undefined {
  const bindings = Object.entries((original["bindings"] ?? {}) as Record<string, { value: Json }>);
  const declared = ((original["typeEnv"] ?? []) as { name: string; ident?: { type: Json } }[]).filter(({ ident }) => ident !== undefined);
  const variables: Record<string, CelType> = {};
  for (const [name] of bindings) variables[name] = dynType;
  for (const { name, ident } of declared) variables[name] = typeOf(ident!.type);
  const environment = createEnvironment({ variables, libraries, ...(typeof original["container"] === "string" && { container: original["container"] }) });
  const compiled = compile(environment, original.expr);
  const isError = original["evalError"] !== undefined;
  if (!("program" in compiled)) return isError ? undefined : `does not compile: ${compiled.errors}`;
  if (original["checkOnly"] === true) return undefined;
  const values: Record<string, Value> = Object.fromEntries(bindings.map(([name, { value }]) => [name, valueOf(value)]));
  const result = evaluate(compiled.program, activationOf(values));
  if ("error" in result) return isError ? undefined : `fails: ${result.error}`;
  if (isError) return `should fail, gives ${shown(result.value)}`;
  const expected = original["value"] ?? (original["typedResult"] as Json | undefined)?.["result"];
  const wanted = expected === undefined ? true : valueOf(expected as Json);
  return isSame(result.value, wanted) ? undefined : `gives ${shown(result.value)}, not ${shown(wanted)}`;
}

function isSame(left: Value, right: Value): boolean {
  if (left instanceof Double && right instanceof Double && Number.isNaN(left.value)) return Number.isNaN(right.value);
  return typeNameOf(left) === typeNameOf(right) && isEqual(left, right);
}

const simpleTypes: Record<string, CelType> = {
  BOOL: boolType,
  INT64: intType,
  UINT64: uintType,
  DOUBLE: doubleType,
  STRING: stringType,
  BYTES: bytesType,
  TIMESTAMP: timestampType,
  DURATION: durationType,
};

function typeOf(json: Json): CelType {
  const [[kind, detail]] = Object.entries(json) as [[string, unknown]];
  if (kind === "primitive" || kind === "wellKnown") return simpleTypes[detail as string] ?? dynType;
  if (kind === "listType") return listType(typeOf((detail as { elemType: Json }).elemType));
  if (kind === "mapType") return mapType(typeOf((detail as { keyType: Json }).keyType), typeOf((detail as { valueType: Json }).valueType));
  if (kind === "null") return nullType;
  if (kind === "type") return typeType();
  if (kind === "abstractType" && (detail as { name: string }).name === "optional_type")
    return optionalType(typeOf((detail as { parameterTypes: Json[] }).parameterTypes[0]!));
  return dynType;
}

function valueOf(json: Json): Value {
  const [[kind, detail]] = Object.entries(json) as [[string, unknown]];
  switch (kind) {
    case "nullValue":
      return null;
    case "int64Value":
      return normalizeInt(BigInt(detail as string));
    case "uint64Value":
      return new Uint(BigInt(detail as string));
    case "doubleValue":
      return new Double(Number(detail));
    case "bytesValue":
      return Buffer.from(detail as string, "base64");
    case "typeValue":
      return new TypeValue(detail as string);
    case "listValue":
      return new ArrayList(((detail as { values?: Json[] }).values ?? []).map(valueOf));
    case "mapValue":
      return mapOf(((detail as { entries?: { key: Json; value: Json }[] }).entries ?? []).map(({ key, value }) => [valueOf(key), valueOf(value)]));
    case "objectValue":
      return wellKnown(detail as { "@type": string; value: unknown });
    default:
      return detail as Value;
  }
}

function wellKnown(object: { readonly "@type": string; readonly value: unknown }): Value {
  const type = object["@type"].replace(/^.*\//, "");
  if (type === "google.protobuf.Timestamp") return parseTimestamp(object.value as string)!;
  if (type === "google.protobuf.Duration") return parseDuration(object.value as string)!;
  throw new Error(`no value for ${type}`);
}

function shown(value: Value): string {
  if (value instanceof ListValue) return `[${[...value].map(shown).join(", ")}]`;
  if (value instanceof MapValue) return `{${[...value.keys()].map((key) => `${shown(key)}: ${shown(value.get(key)!)}`).join(", ")}}`;
  return `${typeNameOf(value)}(${value instanceof Double ? formatDouble(value.value) : typeof value === "object" ? JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part)) : String(value)})`;
}
