/**
 * `shardSelector` of lists and watches (KEP-5866): the objects whose hashed field lies in one of the ranges. The expression is read as CEL, but
 * never evaluated: `shardRange(object.metadata.uid, '0x0', '0x8000000000000000') || …`.
 */
import { formatIssues, parse, qualifiedName } from "../../../apimachinery/cel/index.ts";
import type { Expr } from "../../../apimachinery/cel/index.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { StatusError } from "../../../apimachinery/status.ts";

export interface ShardSelector {
  /** As the client wrote it: lists say so in `shardInfo`. */
  readonly text: string;
  matches(metadata: Pick<ObjectMeta, "uid" | "namespace">): boolean;
}

/** Throws a 500, as upstream does. */
export function parseShardSelector(text: string): ShardSelector {
  const parsed = parse(text, []);
  if ("issues" in parsed) throw invalidSelector(formatIssues(text, parsed.issues));
  const ranges = rangesOf(parsed.expr);
  const { field } = ranges[0]!;
  if (ranges.some((range) => range.field !== field)) throw invalidSelector("all shardRange() calls must use the same field path");
  return {
    text,
    matches(metadata) {
      const hash = fnv1a(metadata[field] ?? "");
      return ranges.some(({ start, end }) => hash >= start && hash < end);
    },
  };
}

interface ShardRange {
  readonly field: "uid" | "namespace";
  readonly start: bigint;
  readonly end: bigint;
}

const fields: Readonly<Record<string, ShardRange["field"]>> = { "object.metadata.uid": "uid", "object.metadata.namespace": "namespace" };

function rangesOf(root: Expr): ShardRange[] {
  const ranges: ShardRange[] = [];
  const pending = [root];
  for (let expr = pending.pop(); expr !== undefined; expr = pending.pop()) {
    if (expr.kind !== "call") throw invalidSelector(`unexpected expression kind ${kindNumbers[expr.kind]}; expected shardRange() call or || operator`);
    if (expr.functionName === "_||_") pending.push(...expr.args.toReversed());
    else ranges.push(rangeOf(expr));
  }
  return ranges;
}

/** By which cel-go tells what an expression is. */
const kindNumbers: Readonly<Record<Expr["kind"], number>> = { call: 1, comprehension: 2, ident: 3, list: 4, literal: 5, map: 6, select: 7, struct: 8 };

function rangeOf({ functionName, target, args }: Extract<Expr, { kind: "call" }>): ShardRange {
  if (functionName !== "shardRange" || target !== undefined)
    throw invalidSelector(`unsupported function "${functionName}"; expected shardRange() call or || operator`);
  const [path, start, end] = args;
  if (args.length !== 3) throw invalidSelector(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  const name = qualifiedName(path!) ?? "";
  if (!Object.hasOwn(fields, name)) throw invalidSelector(`unsupported field path "${name}"; supported: ${Object.keys(fields).join(", ")}`);
  const range = { field: fields[name]!, start: bound(start!), end: bound(end!) };
  if (range.start >= range.end) throw invalidSelector("the start of a range must be below its end");
  return range;
}

const hashSpace = 2n ** 64n;

function bound(expr: Expr): bigint {
  const text = expr.kind === "literal" && expr.value.type === "string" ? expr.value.value : undefined;
  if (text === undefined) throw invalidSelector("the bounds of shardRange() must be string literals");
  if (!/^0x[0-9a-f]{1,17}$/.test(text) || BigInt(text) > hashSpace)
    throw invalidSelector(`invalid bound "${text}": must be lowercase hexadecimal from 0x0 to 0x10000000000000000`);
  return BigInt(text);
}

/** 64-bit FNV-1a (draft-eastlake-fnv). */
function fnv1a(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

function invalidSelector(fault: string): StatusError {
  return new StatusError({ message: `invalid shard selector: ${fault}`, code: 500 });
}
