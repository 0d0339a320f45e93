/** ValidatingAdmissionPolicy: expressions that refuse requests, warn of them or note them for the audit (KEP-3488). */
import type { ParamRef, ValidatingAdmissionPolicyBinding } from "../../../api/admissionregistration-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { AskedDecisions } from "../matching/authorization.ts";
import { RequestView } from "../matching/request-view.ts";
import { isExempt } from "../matching/rules.ts";
import { annotate } from "../audit-annotations.ts";
import { refuse } from "../refuse.ts";
import { compilePolicy } from "./compiled-policy.ts";
import type { CompiledPolicy } from "./compiled-policy.ts";
import { compileMatch } from "./match-resources.ts";
import type { ResourceMatch } from "./match-resources.ts";
import { paramKindFault, paramsOf } from "./params.ts";
import { policyIndex } from "./policy-index.ts";
import type { BoundPolicy } from "./policy-index.ts";
import { validateRequest } from "./validate-request.ts";
import type { Denial } from "./validate-request.ts";

export const validatingAdmissionPolicy: AdmissionPlugin = {
  name: "ValidatingAdmissionPolicy",
  operations: new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
  validate(request) {
    const bound = boundPolicies(request.context.server);
    if (bound.length === 0 || isExempt(request)) return;
    const meant = bound.flatMap((each) => {
      const definition = each.policy.match(request);
      return definition === undefined ? [] : [{ ...each, definition }];
    });
    if (meant.length > 0) return validate(request, meant);
  },
};

interface CompiledBinding {
  readonly name: string;
  readonly match: ResourceMatch;
  readonly paramRef: ParamRef | undefined;
  readonly actions: readonly string[];
}

const boundPolicies = policyIndex<CompiledPolicy, CompiledBinding>({
  policies: "admissionregistration.k8s.io/validatingadmissionpolicies",
  bindings: "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  compilePolicy,
  compileBinding(object: KubeObject) {
    const { metadata, spec = {} } = object as unknown as ValidatingAdmissionPolicyBinding;
    return { name: metadata.name!, match: compileMatch(spec.matchResources), paramRef: spec.paramRef, actions: spec.validationActions ?? [] };
  },
});

type MeantPolicy = BoundPolicy<CompiledPolicy, CompiledBinding> & { readonly definition: ResourceDefinition };

/** Every policy is heard, for its warnings; the first denial is told. */
async function validate(request: AdmissionRequest, policies: readonly MeantPolicy[]): Promise<void> {
  const hearing = new Hearing(request);
  for (const policy of policies) await hearing.hear(policy);
  hearing.close();
  if (hearing.denied !== undefined) throw hearing.denied;
}

class Hearing {
  readonly #request: AdmissionRequest;
  readonly #decisions: AskedDecisions;
  readonly #views = new Map<ResourceDefinition, RequestView>();
  readonly #audited: object[] = [];
  denied: StatusError | undefined;

  constructor(request: AdmissionRequest) {
    const { server, user } = request.context;
    this.#request = request;
    this.#decisions = new AskedDecisions(server.authorizer, user);
  }

  async hear({ policy, bindings, definition }: MeantPolicy): Promise<void> {
    const fault = paramKindFault(this.#request, policy.spec.paramKind);
    if (fault !== undefined) {
      if (!policy.failsOpen) this.#deny(`ValidatingAdmissionPolicy '${policy.name}' denied request: `, { message: `failed to configure policy: ${fault}` });
      return;
    }
    for (const binding of bindings) if (binding.match(this.#request) !== undefined) await this.#hearBinding(policy, binding, definition);
  }

  async #hearBinding(policy: CompiledPolicy, binding: CompiledBinding, definition: ResourceDefinition): Promise<void> {
    const found = await paramsOf(this.#request, policy.spec.paramKind, binding.paramRef);
    if ("fault" in found) {
      if (!policy.failsOpen) this.#deny(deniedBy(policy, binding), { message: `failed to configure binding: ${found.fault}` });
      return;
    }
    for (const params of found.params) {
      const { denials, auditAnnotations } = await validateRequest(policy, { view: await this.#view(definition), decisions: this.#decisions, params });
      for (const denial of denials) this.#act(policy, binding, denial);
      for (const [key, value] of auditAnnotations) annotate(this.#request.context, `${policy.name}/${key}`, value);
    }
  }

  /** Notes what bindings with the action Audit have found. */
  close(): void {
    if (this.#audited.length > 0) annotate(this.#request.context, "validation.policy.admission.k8s.io/validation_failure", JSON.stringify(this.#audited));
  }

  #act(policy: CompiledPolicy, binding: CompiledBinding, denial: Denial): void {
    for (const action of binding.actions) {
      if (action === "Deny") this.#deny(deniedBy(policy, binding), denial);
      else if (action === "Warn")
        this.#request.context.warnings.add(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${denial.message}`,
        );
      else if (action === "Audit")
        this.#audited.push({
          message: denial.message,
          policy: policy.name,
          binding: binding.name,
          expressionIndex: denial.index ?? 0,
          validationActions: binding.actions,
        });
    }
  }

  #deny(prefix: string, { message, reason = "Invalid" }: Denial): void {
    if (this.denied !== undefined) return;
    const text = prefix + message;
    const { status } = refuse(this.#request, text);
    this.denied = new StatusError({ ...status, reason, code: codes.get(reason) ?? 422, details: { ...status.details, causes: [{ message: text }] } });
  }

  async #view(definition: ResourceDefinition): Promise<RequestView> {
    let view = this.#views.get(definition);
    if (view === undefined) this.#views.set(definition, (view = new RequestView(this.#request, definition)));
    await view.prepare();
    return view;
  }
}

const codes: ReadonlyMap<string, number> = new Map([
  ["Unauthorized", 401],
  ["Forbidden", 403],
  ["RequestEntityTooLarge", 413],
  ["Invalid", 422],
]);

function deniedBy(policy: CompiledPolicy, binding: CompiledBinding): string {
  return `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: `;
}
