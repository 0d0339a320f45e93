/** Finding by pattern. */
import { declare, memberOverload } from "../check/declarations.ts";
import { intType, listType, stringType } from "../check/types.ts";
import type { Library } from "../environment.ts";
import { ArrayList, CelError, noSuchOverload } from "../eval/values.ts";
import type { Value } from "../eval/values.ts";
import { checkPattern, compilePattern } from "./patterns.ts";

export const regexLibrary: Library = {
  name: "regex",
  functions: [
    declare("find", memberOverload("string_find_string", [stringType, stringType], stringType, find, { isUnguarded: true, checkConstants: checkPattern })),
    declare(
      "findAll",
      memberOverload(
        "string_find_all_string",
        [stringType, stringType],
        listType(stringType),
        (text, source) => listOf(findAll(text as string, source as string, -1)),
        { checkConstants: checkPattern },
      ),
      memberOverload(
        "string_find_all_string_int",
        [stringType, stringType, intType],
        listType(stringType),
        (text, source, limit) => listOf(findAll(text as string, source as string, Number(limit))),
        { checkConstants: checkPattern },
      ),
    ),
  ],
};

function find(text: Value, source: Value): Value {
  return typeof text === "string" && typeof source === "string" ? first(findAll(text, source, 1)) : noSuchOverload;
}

function findAll(text: string, source: string, limit: number): string[] | CelError {
  const pattern = compilePattern(source);
  if (pattern instanceof CelError) return new CelError(`Illegal regex: ${pattern.message}`);
  const found: string[] = [];
  const matcher = pattern.matcher(text);
  while (found.length !== limit && matcher.find()) found.push(matcher.group() ?? "");
  return found;
}

function first(found: string[] | CelError): Value {
  return found instanceof CelError ? found : (found[0] ?? "");
}

function listOf(found: string[] | CelError): Value {
  return found instanceof CelError ? found : new ArrayList(found);
}
