/**
 * Tables of expressions with what cel-go in Kubernetes 1.37 makes of them: faults, or type, result or error, cost, and the estimate of the
 * cost. One file per library. A row is `[expression, outcome]`; `fault` is one of literals that cannot be converted.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { boolType, dynType, intType, listType, mapType, runtimeTypeName, stringType } from "./check/types.ts";
import type { CelType } from "./check/types.ts";
import { estimateCost } from "./cost/estimate.ts";
import { toText } from "./eval/conversions.ts";
import { formatDouble } from "./eval/format-double.ts";
import { fromJson } from "./eval/json-values.ts";
import { Double, ListValue, MapValue, Optional, typeNameOf, TypeValue, Uint } from "./eval/values.ts";
import type { Value } from "./eval/values.ts";
import { baseEnvironment } from "./kubernetes.ts";
import { CidrValue, IpValue } from "./library/ip-addresses.ts";
import { activationOf, compile, evaluate } from "./program.ts";

interface Outcome {
  readonly faults?: string;
  readonly type?: string;
  readonly fault?: string;
  readonly result?: string;
  readonly error?: string;
  readonly cost?: number;
  readonly estimate?: readonly [min: number, max: number];
}

const variables: Record<string, CelType> = {
  a: dynType,
  b: dynType,
  c: boolType,
  s: stringType,
  l: listType(stringType),
  m: mapType(stringType, stringType),
  n: intType,
  li: listType(intType),
  d: dynType,
};
const data: Record<string, unknown> = {
  a: { b: { c: 1, d: [1, 2] }, e: true },
  b: 5,
  c: true,
  s: "hello",
  l: ["x", "y", "zz"],
  m: { k: "v", j: "w" },
  n: 3,
  li: [3, 1, 2],
  d: { x: { y: "q" } },
};
const environment = baseEnvironment.withVariables(variables);

for (const file of readdirSync(new URL("./tables/", import.meta.url)).sort()) {
  const rows = JSON.parse(readFileSync(new URL(`./tables/${file}`, import.meta.url), "utf8")) as [string, Outcome][];
  test(`${file.replace(".json", "")}: ${rows.length} expressions`, () => {
    for (const [expression, expected] of rows) assert.deepEqual(outcomeOf(expression), normalized(expected), expression);
  });
}

/** Numbers beyond 2^53 are not exact here. */
function normalized({ estimate, ...outcome }: Outcome): Outcome {
  return estimate === undefined ? outcome : { ...outcome, estimate: [roughly(estimate[0]), roughly(estimate[1])] };
}

function roughly(cost: number): number {
  return Number(cost.toPrecision(12));
}

function outcomeOf(expression: string): Outcome {
  const compilation = compile(environment, expression);
  if (!("program" in compilation)) return compilation.phase === "program" ? { fault: compilation.errors } : { faults: compilation.errors };
  const { program } = compilation;
  const evaluation = evaluate(
    program,
    activationOf(Object.fromEntries(Object.entries(data).map(([name, json]) => [name, () => fromJson(json, variables[name]!)]))),
  );
  const { min, max } = estimateCost(program, () => undefined);
  const outcome = "error" in evaluation ? { error: evaluation.error } : { result: shown(evaluation.value) };
  return { type: runtimeTypeName(program.type), ...outcome, cost: evaluation.cost, estimate: [roughly(min), roughly(max)] };
}

function shown(value: Value): string {
  if (typeof value === "string")
    return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (value === null || typeof value !== "object") return String(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Double) return `double(${formatDouble(value.value)})`;
  if (value instanceof Uint8Array) return `b[${[...value].join(" ")}]`;
  if (value instanceof Optional) return value.value === undefined ? "optional.none" : `optional(${shown(value.value)})`;
  if (value instanceof MapValue) return `map/${value.size}`;
  if (value instanceof ListValue) return `[${[...value].map(shown).join(", ")}]`;
  if (value instanceof TypeValue) return `type(${value.name})`;
  const text = value instanceof IpValue || value instanceof CidrValue ? value.toString() : toText(value);
  return typeof text === "string" ? `${typeNameOf(value)}(${text})` : typeNameOf(value);
}
