/** What calls of Kubernetes' libraries cost, by the functions' names: when run, and estimated. Both are part of the API through its limits. */
import { nameOf, parametersOf } from "../check/types.ts";
import type { CelType } from "../check/types.ts";
import type { CallEstimate, CostNode, EstimatedCall, FunctionEstimate } from "../cost/estimate.ts";
import { matchingEstimate } from "../cost/general-estimates.ts";
import { addCosts, fixedRange, maxCost, multiplyRanges, timesFactor } from "../cost/ranges.ts";
import type { Range } from "../cost/ranges.ts";
import type { Library } from "../environment.ts";
import { matching, sizeOf, traversal } from "../eval/actual-cost.ts";
import type { FunctionCost } from "../eval/actual-cost.ts";
import { ListValue, MapValue, ObjectValue, OpaqueValue } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { FormatValue } from "./named-formats.ts";

const perCharacter = 0.1;
/** Two checks fit an expression. */
const authorizationCheck = 350_000;

const accessors = [
  "serviceAccount",
  "path",
  "group",
  "resource",
  "subresource",
  "namespace",
  "name",
  "allowed",
  "reason",
  "error",
  "errored",
  "masked",
  "prefixLength",
  "family",
  "isUnspecified",
  "isLoopback",
  "isLinkLocalMulticast",
  "isLinkLocalUnicast",
  "isGlobalUnicast",
  "format.named",
  "sign",
  "asInteger",
  "isInteger",
  "asApproximateFloat",
  "isGreaterThan",
  "isLessThan",
  "compareTo",
  "add",
  "sub",
  "major",
  "minor",
  "patch",
  "getScheme",
  "getHostname",
  "getHost",
  "getPort",
  "getEscapedPath",
  "getQuery",
];
const listFolds = ["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"];
const parsers = ["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"];
const rewriters = ["lowerAscii", "upperAscii", "substring", "trim"];

function byName<T>(...groups: ReadonlyArray<readonly [names: readonly string[], entry: T]>): Map<string, T> {
  return new Map(groups.flatMap(([names, entry]) => names.map((name): [string, T] => [name, entry])));
}

const actualCosts = byName<FunctionCost>(
  [["check"], () => authorizationCheck],
  [accessors, () => 1],
  [["fieldSelector", "labelSelector"], ([, selector]) => 10 + traversal(sizeOf(selector!)) + Math.ceil(sizeOf(selector!) * 0.5) * 50],
  [listFolds, ([first]) => wholeTraversal(first!)],
  [["url", "jsonpatch.escapeKey", ...rewriters, ...parsers], ([text]) => traversal(sizeOf(text!))],
  [["replace", "split", "ip.isCanonical"], ([text]) => traversal(sizeOf(text!), 2)],
  [["join"], (_args, result) => traversal(sizeOf(result), 2)],
  [["find", "findAll"], ([text, pattern]) => matching(sizeOf(text!), sizeOf(pattern!))],
  [["ip"], ([text], _result, overloadId) => (overloadId === "cidr_ip" ? 1 : traversal(sizeOf(text!)))],
  [
    ["containsIP"],
    ([cidr, other], _result, overloadId) => traversal(sizeOf(cidr!) * 2) + (overloadId === "cidr_contains_ip_string" ? traversal(sizeOf(other!)) : 0),
  ],
  [
    ["containsCIDR"],
    ([cidr, other], _result, overloadId) =>
      traversal(sizeOf(cidr!) * 2) + traversal(sizeOf(cidr!)) + 1 + (overloadId === "cidr_contains_cidr_string" ? traversal(sizeOf(other!)) : 0),
  ],
  [["validate"], ([format, text]) => (format instanceof FormatValue ? matching(sizeOf(text!), format.format.patternSize) : undefined)],
  [["_==_"], ([left]) => (left instanceof OpaqueValue ? 1 : undefined)],
);

/** Reading a value with all that is in it. */
function wholeTraversal(value: Value): number {
  if (typeof value === "string") return Math.trunc(Buffer.byteLength(value) * perCharacter);
  if (value instanceof Uint8Array) return Math.trunc(value.length * perCharacter);
  let cost = 0;
  if (value instanceof ListValue) {
    for (const each of value) cost += wholeTraversal(each);
    return cost;
  }
  if (value instanceof MapValue) {
    for (const key of value.keys()) cost += wholeTraversal(key) + wholeTraversal(value.get(key)!);
    return cost;
  }
  if (!(value instanceof ObjectValue)) return 1;
  for (const name of value.fieldNames()) cost += wholeTraversal(name) + wholeTraversal(value.field(name) ?? null);
  return cost;
}

const estimates = byName<FunctionEstimate>(
  [["check"], () => ({ cost: fixedRange(authorizationCheck) })],
  [accessors, () => ({ cost: fixedRange(1) })],
  [["fieldSelector", "labelSelector"], ({ args, sizeOf: size }) => ({ cost: selectorEstimate(size(args[0]!)) })],
  [listFolds, foldEstimate],
  [["url", "jsonpatch.escapeKey"], ({ args, sizeOf: size }) => ({ cost: timesFactor(size(args[0]!), perCharacter), resultSize: size(args[0]!) })],
  [rewriters, ({ target, sizeOf: size }) => target && { cost: timesFactor(size(target), perCharacter), resultSize: size(target) }],
  [["replace"], replaceEstimate],
  [["split"], splitEstimate],
  [["join"], joinEstimate],
  [
    ["find", "findAll"],
    ({ target, args, sizeOf: size }) => target && { cost: matchingEstimate(size(target), size(args[0]!)), resultSize: { min: 0, max: size(target).max } },
  ],
  [parsers, ({ args, sizeOf: size }) => ({ cost: timesFactor(size(args[0]!), perCharacter) })],
  [["ip"], ({ args, sizeOf: size }) => ({ cost: args.length === 0 ? fixedRange(1) : timesFactor(size(args[0]!), perCharacter) })],
  [["ip.isCanonical"], ({ args, sizeOf: size }) => ({ cost: timesFactor(size(args[0]!), 2 * perCharacter) })],
  [["containsIP"], (call) => ({ cost: addCosts(addressComparison(2), ownText(call, "cidr_contains_ip_string")) })],
  [["containsCIDR"], (call) => ({ cost: addCosts(addressComparison(2), addressComparison(1), fixedRange(1), ownText(call, "cidr_contains_cidr_string")) })],
  // No format's pattern is longer than 128.
  [["validate"], ({ args, sizeOf: size }) => ({ cost: timesFactor(timesFactor(size(args[0]!), perCharacter), 128 * 0.25) })],
  [["_==_"], equalityEstimate],
);

/** A selector has at most a requirement per two characters: a struct and a list each. */
function selectorEstimate(size: Range): Range {
  return addCosts(fixedRange(10), timesFactor(size, perCharacter), timesFactor(timesFactor(size, 0.5), 50));
}

function foldEstimate({ target, sizeOf: size }: EstimatedCall): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const item = itemOf(target);
  if (item === undefined) return { cost: timesFactor(size(target), perCharacter) };
  const perItem = item.type.kind === "string" || item.type.kind === "bytes" ? addCosts(fixedRange(1), timesFactor(size(item), perCharacter)) : fixedRange(1);
  return { cost: multiplyRanges(size(target), perItem) };
}

function itemOf(list: CostNode): CostNode | undefined {
  const [type] = parametersOf(list.type);
  return type && { type, ...(list.path && { path: [...list.path, "@items"] }) };
}

/** The result is longest when the shortest parts are replaced by the longest, and shortest the other way round. */
function replaceEstimate({ target, args, sizeOf: size }: EstimatedCall): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const [text, from, to] = [size(target), size(args[0]!), size(args[1]!)];
  const longest = replaced(text.max, from.min, to.max <= from.min, to.max);
  const shortest = replaced(text.min, from.max, from.max <= to.min, to.min);
  return { cost: timesFactor(text, 2 * perCharacter), resultSize: { min: Math.min(shortest, maxCost), max: Math.min(longest, maxCost) } };
}

function replaced(text: number, from: number, isKept: boolean, to: number): number {
  if (from === 0) return (text + 1) * to + text;
  return isKept ? text : Math.ceil(text / from) * to;
}

function splitEstimate({ target, args, sizeOf: size }: EstimatedCall): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const limit = args[1]?.expr;
  const isLiteral = limit?.kind === "literal" && limit.value.type === "int";
  const max = isLiteral ? Number(BigInt.asUintN(64, limit.value.value as bigint)) : size(target).max;
  return { cost: timesFactor(size(target), 2 * perCharacter), resultSize: { min: 0, max } };
}

function joinEstimate({ target, args, sizeOf: size }: EstimatedCall): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const list = size(target);
  const item = itemOf(target);
  let total = item === undefined ? fixedRange(0) : multiplyRanges(list, size(item));
  if (args.length > 0) total = addCosts(total, multiplyRanges(size(args[0]!), { min: Math.max(list.min - 1, 0), max: Math.max(list.max - 1, 0) }));
  return { cost: timesFactor(total, perCharacter), resultSize: total };
}

/** Addresses have 4 or 16 bytes. */
function addressComparison(times: number): Range {
  return timesFactor({ min: 4 * times, max: 16 * times }, perCharacter);
}

function ownText({ overloadId, args, sizeOf: size }: EstimatedCall, id: string): Range {
  return overloadId === id ? timesFactor(size(args[0]!), perCharacter) : fixedRange(0);
}

function equalityEstimate({ args, sizeOf: size }: EstimatedCall): CallEstimate | undefined {
  const [left, right] = args.map((arg): CelType => arg.type) as [CelType, CelType];
  if (left.kind !== right.kind || nameOf(left) !== nameOf(right)) return undefined;
  const name = nameOf(left);
  if (name === "kubernetes.NamedFormat") return { cost: timesFactor({ min: 1, max: 64 }, perCharacter) };
  if (name === "kubernetes.URL") {
    const known = size(args[1]!);
    return { cost: timesFactor({ min: 1, max: known.max === maxCost ? 1 : known.max }, perCharacter) };
  }
  return constantEquality.test(name) ? { cost: fixedRange(1) } : undefined;
}

const constantEquality = /^(net\.(IP|CIDR)|kubernetes\.(Quantity|Semver)|kubernetes\.authorization\.(Authorizer|PathCheck|GroupCheck|ResourceCheck|Decision))$/;

export const kubernetesCosts: Library = { name: "kubernetes costs", actualCosts, estimates };
