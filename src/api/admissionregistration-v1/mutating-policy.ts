import { invalid, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import { FieldPath } from "../../apimachinery/field-path.ts";
import { subdomainName } from "../../apimachinery/names.ts";
import { defineKind } from "../strategy.ts";
import type { RuleContext } from "../strategy.ts";
import { isSame } from "../update-rules.ts";
import { validateExpression } from "./expressions.ts";
import { validatePolicySpec } from "./policy-rules.ts";
import { defaultMatchResources, validateMutatingOperations } from "./rules.ts";
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicySpec, Mutation } from "./types.ts";

const specPath = FieldPath.root("spec");

export const mutatingAdmissionPolicies = defineKind<MutatingAdmissionPolicy>({
  gvk: { group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingAdmissionPolicy" },
  nameRule: subdomainName,
  requiresQualifiedFinalizers: false,
  generation: "spec",
  defaults(policy) {
    const spec = (policy.spec ??= {});
    spec.failurePolicy ??= "Fail";
    if (spec.matchConstraints !== undefined) defaultMatchResources(spec.matchConstraints);
  },
  create: { validate: (policy, context) => validatePolicy(policy, undefined, context) },
  update: {
    validate: (policy, old, context) => (isSame(policy.spec, old.spec) ? [] : validatePolicy(policy, old, context)),
    allowsUnconditional: false,
  },
});

const reinvocationPolicies = ["IfNeeded", "Never"];

function validatePolicy({ spec = {} }: MutatingAdmissionPolicy, old: MutatingAdmissionPolicy | undefined, context: RuleContext): FieldError[] {
  const { mutations = [], reinvocationPolicy: policy } = spec;
  const mutationsPath = specPath.child("mutations");
  const policyPath = specPath.child("reinvocationPolicy");
  return [
    ...validatePolicySpec(spec, old?.spec, context, specPath),
    ...validateMutatingOperations(spec.matchConstraints ?? {}, specPath.child("matchConstraints")),
    ...(mutations.length === 0 ? [required(mutationsPath, "mutations must contain at least one item")] : []),
    ...mutations.flatMap((mutation, index) => validateMutation(mutation, spec, context, mutationsPath.index(index))),
    ...(!policy ? [required(policyPath)] : reinvocationPolicies.includes(policy) ? [] : [notSupported(policyPath, policy, reinvocationPolicies)]),
  ];
}

/** [patch type, its field, what its expression must give]. */
const patches = [
  ["ApplyConfiguration", "applyConfiguration", "Object"],
  ["JSONPatch", "jsonPatch", "list(JSONPatch)"],
] as const;

function validateMutation(mutation: Mutation, { paramKind, variables = [] }: MutatingAdmissionPolicySpec, context: RuleContext, path: FieldPath): FieldError[] {
  const { patchType = "" } = mutation;
  const typePath = path.child("patchType");
  if (patchType === "") return [required(typePath)];
  const chosen = patches.find(([type]) => type === patchType);
  if (chosen === undefined)
    return [
      notSupported(
        typePath,
        patchType,
        patches.map(([type]) => type),
      ),
    ];
  const [type, field, result] = chosen;
  const patch = mutation[field];
  const errors: FieldError[] = [];
  if (patch === undefined) {
    errors.push(required(path.child(field), `must be specified when patchType is ${type}`));
  } else {
    const at = path.child(field, "expression");
    const expression = patch.expression ?? "";
    if (expression.trim() === "") errors.push(required(at));
    else
      errors.push(
        ...validateExpression(
          expression,
          { hasParams: paramKind !== undefined, hasAuthorizer: true, hasPatchTypes: true, variables, returns: [result] },
          context,
          at,
        ),
      );
  }
  const others = patches.filter(([, other]) => other !== field && mutation[other] !== undefined);
  return [...errors, ...others.map(([, other]) => invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${type}`))];
}
