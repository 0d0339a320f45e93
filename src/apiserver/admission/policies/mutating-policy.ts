/** MutatingAdmissionPolicy: expressions that change objects, one policy after the other in the order of their names (KEP-3962). */
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ParamRef } from "../../../api/admissionregistration-v1/types.ts";
import type { JsonObject } from "../../../apimachinery/json.ts";
import { deepEqual } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import { noteChange, reinvocationOf } from "../chain.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { AskedDecisions } from "../matching/authorization.ts";
import { compileConditions, checkConditions } from "../matching/conditions.ts";
import type { Condition } from "../matching/conditions.ts";
import { RequestView } from "../matching/request-view.ts";
import { isExempt } from "../matching/rules.ts";
import { nameOf, refuse } from "../refuse.ts";
import { compileMatch } from "./match-resources.ts";
import type { ResourceMatch } from "./match-resources.ts";
import { compileMutations, mutateObject } from "./mutations.ts";
import type { CompiledMutations } from "./mutations.ts";
import { paramKindFault, paramsOf } from "./params.ts";
import { policyIndex } from "./policy-index.ts";
import type { BoundPolicy } from "./policy-index.ts";

export const mutatingAdmissionPolicy: AdmissionPlugin = {
  name: "MutatingAdmissionPolicy",
  operations: new Set(["CREATE", "UPDATE"]),
  mutate(request) {
    const bound = boundPolicies(request.context.server);
    if (bound.length === 0 || isExempt(request)) return;
    return mutate(request, bound);
  },
};

interface CompiledPolicy {
  readonly name: string;
  readonly spec: NonNullable<MutatingAdmissionPolicy["spec"]>;
  readonly failsOpen: boolean;
  readonly match: ResourceMatch;
  readonly conditions: readonly Condition[];
  readonly mutations: CompiledMutations;
}

interface CompiledBinding {
  readonly name: string;
  readonly match: ResourceMatch;
  readonly paramRef: ParamRef | undefined;
}

const boundPolicies = policyIndex<CompiledPolicy, CompiledBinding>({
  policies: "admissionregistration.k8s.io/mutatingadmissionpolicies",
  bindings: "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  compilePolicy(object: KubeObject) {
    const { metadata, spec = {} } = object as unknown as MutatingAdmissionPolicy;
    let conditions: readonly Condition[] | undefined;
    let mutations: CompiledMutations | undefined;
    return {
      name: metadata.name!,
      spec,
      failsOpen: spec.failurePolicy === "Ignore",
      match: compileMatch(spec.matchConstraints),
      get conditions() {
        return (conditions ??= compileConditions(spec.matchConditions ?? [], spec.paramKind !== undefined));
      },
      get mutations() {
        return (mutations ??= compileMutations(spec));
      },
    };
  },
  compileBinding(object: KubeObject) {
    const { metadata, spec = {} } = object as unknown as MutatingAdmissionPolicyBinding;
    return { name: metadata.name!, match: compileMatch(spec.matchResources), paramRef: spec.paramRef };
  },
});

async function mutate(request: AdmissionRequest, bound: readonly BoundPolicy<CompiledPolicy, CompiledBinding>[]): Promise<void> {
  const decisions = new AskedDecisions(request.context.server.authorizer, request.context.user);
  const reinvocation = reinvocationOf(request);
  for (const { policy, bindings } of bound) {
    if (reinvocation.round > 0 && !reinvocation.again.has(policy)) continue;
    const definition = policy.match(request);
    if (definition === undefined) continue;
    const fault = paramKindFault(request, policy.spec.paramKind);
    if (fault !== undefined) {
      if (!policy.failsOpen) throw denial(request, `policy '${policy.name}' denied request: failed to configure policy: ${fault}`, "Forbidden");
      continue;
    }
    const view = new RequestView(request, definition);
    await view.prepare();
    const before = view.object;
    for (const binding of bindings) if (binding.match(request) !== undefined) await applyBinding(policy, binding, { view, decisions });
    if (!deepEqual(before, view.object)) noteChange(reinvocation);
    if (policy.spec.reinvocationPolicy === "IfNeeded") reinvocation.earlier.add(policy);
  }
}

async function applyBinding(
  policy: CompiledPolicy,
  binding: CompiledBinding,
  target: { readonly view: RequestView; readonly decisions: AskedDecisions },
): Promise<void> {
  const { request } = target.view;
  const prefix = `policy '${policy.name}' with binding '${binding.name}' denied request: `;
  const found = await paramsOf(request, policy.spec.paramKind, binding.paramRef);
  if ("fault" in found) {
    if (!policy.failsOpen) throw denial(request, `${prefix}failed to configure binding: ${found.fault}`, "Forbidden");
    return;
  }
  for (const params of found.params) {
    const fault = await applyPolicy(policy, { ...target, params });
    if (fault !== undefined && !policy.failsOpen) throw denial(request, prefix + fault, "Invalid");
  }
}

/** What went wrong, if anything. */
async function applyPolicy(
  policy: CompiledPolicy,
  { params, ...target }: { readonly view: RequestView; readonly decisions: AskedDecisions; readonly params: JsonObject | null | undefined },
): Promise<string | undefined> {
  const scope = { ...target, ...(params !== undefined && { params }) };
  const outcome = await checkConditions(policy.conditions, scope);
  if (outcome === "does not match") return undefined;
  return outcome === "matches" ? mutateObject(policy.mutations, scope) : outcome.fault;
}

/** A 403, whatever its reason says. */
function denial(request: AdmissionRequest, message: string, reason: string): StatusError {
  const { status } = refuse(request, message);
  return new StatusError({ message, reason, details: { ...status.details, name: nameOf(request), causes: [{ message }] }, code: 403 });
}
