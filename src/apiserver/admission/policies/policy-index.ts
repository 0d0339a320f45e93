/** The policies of one kind with their bindings, read again when one of them changes; a policy is compiled once per generation. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ServerState } from "../../server-state.ts";
import { CompiledObjects } from "../matching/compiled-objects.ts";

export interface PolicyKind<Policy, Binding> {
  /** As `group/resource`. */
  readonly policies: string;
  readonly bindings: string;
  compilePolicy(policy: KubeObject): Policy;
  compileBinding(binding: KubeObject): Binding;
}

/** Only policies with bindings, in the order of their names. */
export interface BoundPolicy<Policy, Binding> {
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

/** A function that gives the bound policies of a server. */
export function policyIndex<Policy, Binding>(kind: PolicyKind<Policy, Binding>): (server: ServerState) => readonly BoundPolicy<Policy, Binding>[] {
  const known = new WeakMap<ServerState, PolicyIndex<Policy, Binding>>();
  return (server) => {
    let index = known.get(server);
    if (index === undefined) known.set(server, (index = new PolicyIndex(server, kind)));
    return index.current();
  };
}

class PolicyIndex<Policy, Binding> {
  readonly #server: ServerState;
  readonly #policies: CompiledObjects<Policy>;
  readonly #bindings: CompiledObjects<Binding>;
  #bound: readonly BoundPolicy<Policy, Binding>[] = [];

  constructor(server: ServerState, kind: PolicyKind<Policy, Binding>) {
    this.#server = server;
    this.#policies = new CompiledObjects(kind.policies, kind.compilePolicy);
    this.#bindings = new CompiledObjects(kind.bindings, kind.compileBinding);
  }

  current(): readonly BoundPolicy<Policy, Binding>[] {
    const havePoliciesChanged = this.#policies.refresh(this.#server);
    const haveBindingsChanged = this.#bindings.refresh(this.#server);
    if (havePoliciesChanged || haveBindingsChanged) this.#bound = this.#bind();
    return this.#bound;
  }

  #bind(): BoundPolicy<Policy, Binding>[] {
    const byPolicy = new Map<string, Binding[]>();
    for (const { object, compiled } of this.#bindings.entries) {
      const policyName = (object["spec"] as { policyName?: string } | undefined)?.policyName ?? "";
      const bindings = byPolicy.get(policyName);
      if (bindings === undefined) byPolicy.set(policyName, [compiled]);
      else bindings.push(compiled);
    }
    return this.#policies.entries.flatMap(({ object, compiled }) => {
      const bindings = byPolicy.get(object.metadata.name!);
      return bindings === undefined ? [] : [{ policy: compiled, bindings }];
    });
  }
}
