/** Match conditions of authorization webhooks: CEL over the review's spec as `request` (KEP-3221). */
import { createEnvironment } from "../../apimachinery/cel/environment.ts";
import { activationOf, compile, evaluate } from "../../apimachinery/cel/program.ts";
import { boolType, dynType, mapType, stringType } from "../../apimachinery/cel/check/types.ts";
import { fromJson } from "../../apimachinery/cel/eval/json-values.ts";
import { optionalLibrary } from "../../apimachinery/cel/library/optionals.ts";
import { stringsLibrary } from "../../apimachinery/cel/library/strings.ts";

const requestType = mapType(stringType, dynType);
const environment = createEnvironment({ variables: { request: requestType }, libraries: [stringsLibrary, optionalLibrary] });

/** Throws an Error with the compiler's text. The condition says true, false, or why it cannot tell. */
export function compileCondition(text: string): (request: object) => boolean | { readonly fault: string } {
  const compilation = compile(environment, text, boolType);
  if (!("program" in compilation)) throw new Error(`compilation failed: ${compilation.errors}`);
  const { program } = compilation;
  return (request) => {
    const outcome = evaluate(program, activationOf({ request: () => fromJson(request, requestType) }));
    if ("error" in outcome) return { fault: `cel evaluation error: expression '${text}' resulted in error: ${outcome.error}` };
    return outcome.value === true;
  };
}
