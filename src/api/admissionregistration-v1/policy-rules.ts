/** What validating and mutating admission policies have in common. */
import { invalid, invalidEach, notSupported, required } from "../../apimachinery/field-error.ts";
import type { FieldError } from "../../apimachinery/field-error.ts";
import type { FieldPath } from "../../apimachinery/field-path.ts";
import { isDns1035Label, isDns1123Subdomain } from "../../apimachinery/names.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import type { RuleContext } from "../strategy.ts";
import { validateMatchConditions, validateVariables } from "./expressions.ts";
import { validateMatchResources } from "./rules.ts";
import type { MatchResources, MutatingAdmissionPolicySpec, ParamKind, ValidatingAdmissionPolicySpec } from "./types.ts";

type PolicySpec = Pick<
  MutatingAdmissionPolicySpec & ValidatingAdmissionPolicySpec,
  "failurePolicy" | "matchConditions" | "matchConstraints" | "paramKind" | "variables"
>;

const failurePolicies = ["Fail", "Ignore"];

/** Everything that stands before what the policy does. */
export function validatePolicySpec(spec: PolicySpec, old: PolicySpec | undefined, context: RuleContext, path: FieldPath): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints } = spec;
  const hasParams = paramKind !== undefined;
  return [
    ...(failurePolicy === undefined
      ? [required(path.child("failurePolicy"))]
      : failurePolicies.includes(failurePolicy)
        ? []
        : [notSupported(path.child("failurePolicy"), failurePolicy, failurePolicies)]),
    ...(hasParams ? validateParamKind(paramKind, path.child("paramKind")) : []),
    ...(matchConstraints === undefined ? [required(path.child("matchConstraints"))] : validateConstraints(matchConstraints, path.child("matchConstraints"))),
    ...validateMatchConditions(spec.matchConditions ?? [], old?.matchConditions ?? [], hasParams, context, path.child("matchConditions")),
    ...validateVariables(spec.variables ?? [], hasParams, context, path.child("variables")),
  ];
}

/** Without a rule there would be no type to check expressions against. */
function validateConstraints(constraints: MatchResources, path: FieldPath): FieldError[] {
  const isEmpty = (constraints.resourceRules ?? []).length === 0;
  return [...validateMatchResources(constraints, path), ...(isEmpty ? [required(path.child("resourceRules"))] : [])];
}

function validateParamKind({ apiVersion = "", kind = "" }: ParamKind, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const at = path.child("apiVersion");
  const parsed = parseApiVersion(apiVersion);
  if (apiVersion === "") {
    errors.push(required(at));
  } else if (parsed === undefined) {
    errors.push(invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else {
    const groupFaults = parsed.group === "" ? [] : isDns1123Subdomain(parsed.group);
    if (groupFaults.length > 0) errors.push(invalid(at, parsed.group, groupFaults.join(",")));
    errors.push(...invalidEach(at, parsed.version, isDns1035Label(parsed.version)));
  }
  const kindFaults = isDns1035Label(kind.toLowerCase());
  if (kind === "") errors.push(required(path.child("kind")));
  else if (kindFaults.length > 0) errors.push(invalid(path.child("kind"), kind, `may have mixed case, but should otherwise match: ${kindFaults.join(",")}`));
  return errors;
}
