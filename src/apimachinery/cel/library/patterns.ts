/** Patterns in RE2's syntax, matched in linear time. Compiled patterns are kept, the last few hundred of them. */
import { RE2JS } from "re2js";
import { CelError } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { BoundedCache } from "../bounded-cache.ts";

const patterns = new BoundedCache<string, RE2JS | CelError>(512);
/** Longer ones are not kept. */
const maxKeptLength = 4096;

/** The compiled pattern, or RE2's complaint. */
export function compilePattern(source: string): RE2JS | CelError {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const compiled = compile(source);
  if (source.length <= maxKeptLength) patterns.set(source, compiled);
  return compiled;
}

/** `text.matches(pattern)`: whether it is found anywhere in the text. */
export function matchesPattern(text: string, source: string): Value {
  const pattern = compilePattern(source);
  return pattern instanceof CelError ? pattern : pattern.test(text);
}

/** A pattern that is a literal must be one. */
export function checkPattern([, source]: ReadonlyArray<Value | undefined>): CelError | undefined {
  const pattern = typeof source === "string" ? compilePattern(source) : undefined;
  return pattern instanceof CelError ? pattern : undefined;
}

function compile(source: string): RE2JS | CelError {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    return new CelError((error as Error).message);
  }
}
