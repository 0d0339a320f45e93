/** Match conditions of authorization webhooks: CEL over the review's spec as `request` (KEP-3221). */
import { createEnvironment } from "../../apimachinery/cel/environment.ts";
import { activationOf, compile, evaluate } from "../../apimachinery/cel/program.ts";
import { boolType, listType, mapType, stringType } from "../../apimachinery/cel/check/types.ts";
import { structOf } from "../../apimachinery/cel/schema/variable-types.ts";
import { fromJson } from "../../apimachinery/cel/eval/json-values.ts";
import { optionalLibrary } from "../../apimachinery/cel/library/optionals.ts";
import { stringsLibrary } from "../../apimachinery/cel/library/strings.ts";

const texts = listType(stringType);
const requirement = structOf("kubernetes.SelectorRequirement", { key: stringType, operator: stringType, values: texts });
const selector = (name: string) => structOf(name, { rawSelector: stringType, requirements: listType(requirement) });

/** The spec of a SubjectAccessReview. */
const requestType = structOf("kubernetes.SubjectAccessReviewSpec", {
  resourceAttributes: structOf("kubernetes.ResourceAttributes", {
    namespace: stringType,
    verb: stringType,
    group: stringType,
    version: stringType,
    resource: stringType,
    subresource: stringType,
    name: stringType,
    fieldSelector: selector("kubernetes.FieldSelectorAttributes"),
    labelSelector: selector("kubernetes.LabelSelectorAttributes"),
  }),
  nonResourceAttributes: structOf("kubernetes.NonResourceAttributes", { path: stringType, verb: stringType }),
  user: stringType,
  groups: texts,
  extra: mapType(stringType, texts),
  uid: stringType,
});
const environment = createEnvironment({ variables: { request: requestType }, libraries: [stringsLibrary, optionalLibrary] });

/** Throws an Error with the compiler's text. The condition says true, false, or why it cannot tell. */
export function compileCondition(text: string): (request: object) => boolean | { readonly fault: string } {
  const compilation = compile(environment, text, boolType);
  if (!("program" in compilation))
    throw new Error(compilation.errors.startsWith("must evaluate to") ? compilation.errors : `compilation failed: ${compilation.errors}`);
  const { program } = compilation;
  return (request) => {
    const outcome = evaluate(program, activationOf({ request: () => fromJson(request, requestType) }));
    if ("error" in outcome) return { fault: `cel evaluation error: expression '${text}' resulted in error: ${outcome.error}` };
    return outcome.value === true;
  };
}
