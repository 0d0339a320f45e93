/** An operator as one value: what it defines, reconciles and admits. It runs outside a cluster, inside one, or in a test's process. */
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceDefinition } from "../definition/define-resource.ts";
import type { Reconciler } from "../reconciler/reconciler.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { manifestsOf, yamlOf } from "./manifests.ts";
import type { ManifestOptions } from "./manifests.ts";
import { runIn } from "./run-in.ts";
import type { OperatorHost } from "./run-in.ts";

/** What an operator is made of. */
export interface OperatorOptions {
  /** A DNS label: the operator's service account, lease, field manager, and the source of its events. */
  readonly name: string;
  /** Custom resources that it defines; it keeps their CustomResourceDefinitions up to date. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the parameters differ per definition and are not looked at
  readonly definitions?: readonly ResourceDefinition<any, any>[];
  readonly reconcilers?: readonly Reconciler[];
  readonly webhooks?: readonly Webhook[];
  /** Work in this namespace only. Default: in all. */
  readonly namespace?: string;
  /** Rights beyond those that reconcilers, children and webhooks tell of: what `actions` of plans and `observe` need. */
  readonly permissions?: readonly PolicyRule[];
}

/** What an operator consists of, with its rights gathered from its parts. */
export interface OperatorDefinition {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly definitions: readonly ResourceDefinition[];
  readonly reconcilers: readonly Reconciler[];
  readonly webhooks: readonly Webhook[];
  readonly permissions: readonly PolicyRule[];
}

/** An operator that can be installed and run; `defineOperator` makes one. */
export interface Operator extends OperatorDefinition {
  /** Definitions, rights and, with an image, the Deployment. */
  manifests(options?: ManifestOptions): KubeObject[];
  /** The same as YAML, for `kubectl apply -f -`. */
  yaml(options?: ManifestOptions): string;
  /** Runs until `signal` aborts and all its work has ended. */
  run(host: OperatorHost, signal: AbortSignal): Promise<void>;
}

/** Throws a TypeError when the name is no DNS label. */
export function defineOperator(options: OperatorOptions): Operator {
  const { name, namespace, definitions = [], reconcilers = [], webhooks = [], permissions = [] } = options;
  if (!/^[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?$/.test(name))
    throw new TypeError(`${JSON.stringify(name)} cannot name an operator: lower-case letters, digits and dashes, at most 53`);
  const definition: OperatorDefinition = { name, namespace, definitions: definitions as readonly ResourceDefinition[], reconcilers, webhooks, permissions };
  return {
    ...definition,
    manifests: (given) => manifestsOf(definition, given),
    yaml: (given) => yamlOf(manifestsOf(definition, given)),
    run: (host, signal) => runIn(definition, host, signal),
  };
}
