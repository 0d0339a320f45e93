/**
 * What differs from kind to kind, beside the kind's types: a small strategy that the generic registry of the API server reads.
 *
 * The life of a write, and who does what:
 *   decode → `defaults` → admission → `create.prepare` / `update.prepare` → generic metadata rules → `validate` → `warnings` → encode.
 * All functions are pure over their arguments. `prepare` and `defaults` change the object they are given; everything else reads.
 */
import type { FieldError } from "../apimachinery/field-error.ts";
import type { FieldPath } from "../apimachinery/field-path.ts";
import type { KubeObject, GroupVersionKind } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/request.ts";
import type { NameRule } from "../apimachinery/names.ts";

/** What a rule may know beside the object itself. */
export interface RuleContext {
  readonly nowMs: number;
  readonly user: UserInfo;
  /** Namespace of the request; empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** Main resource: empty; else `status`, `scale`, `resize`, … */
  readonly subresource: string;
  readonly isDryRun: boolean;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
  /** Another object as the API server's cache has it, or undefined. `resource` is `group/resource` (`/nodes`, `apps/deployments`). */
  find(resource: string, namespace: string, name: string): KubeObject | undefined;
  /** All objects of a resource in a namespace (`""`: everywhere). */
  findAll(resource: string, namespace: string): readonly KubeObject[];
  /** A random v4 UUID, from the server's source of ids. */
  newUid(): string;
  /** Adds a warning at once, for what only `prepare` can see. */
  warn?(text: string): void;
  /** The server's own settings that rules depend on. */
  readonly settings: RuleSettings;
  /** Compiles the CEL expression at `path`: of an admission policy, a webhook, a device selector. Absent: nothing is compiled. */
  checkExpression?(check: ExpressionCheck, path: FieldPath): FieldError[];
  /** Compiles the `x-kubernetes-validations` of a custom resource's schema, at every depth. Absent: they are not compiled. */
  checkSchemaRules?(schema: Readonly<Record<string, unknown>>, path: FieldPath): FieldError[];
  /** Checks the defaults in a structural schema against it. Absent: they are not checked. */
  checkSchemaDefaults?(schema: Readonly<Record<string, unknown>>, path: FieldPath): FieldError[];
}

/** A CEL expression with what it may use and what it must give. */
export interface ExpressionCheck {
  readonly expression: string;
  /** `admission`: `object`, `request` and the like, and what the next fields say; `device`: only `device`. */
  readonly environment: "admission" | "device";
  /** Whether `params` is there. */
  readonly hasParams: boolean;
  /** Whether `authorizer` is there. */
  readonly hasAuthorizer: boolean;
  /** Whether `Object` and `JSONPatch` are there, as in mutations. */
  readonly hasPatchTypes?: boolean;
  /** Variables of the policy that stand before the expression. */
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  /** Whether it is a variable's itself: those have `variables` even when there are none before. */
  readonly isVariable?: boolean;
  /** CEL types that the result may have, as texts name them; none: any. */
  readonly returns: readonly string[];
}

export interface RuleSettings {
  readonly allowPrivileged: boolean;
  readonly serviceCidrs: readonly string[];
  readonly nodePortRange: { readonly first: number; readonly last: number };
}

/**
 * How `metadata.generation` moves.
 * - `none`: the server does not manage it; what the client sent is stored
 * - `spec`: 1 at creation, one more when anything but metadata and status changes
 * - a function: 1 at creation, one more when it says so
 */
export type GenerationRule<T> = "none" | "spec" | ((object: T, old: T) => boolean);

export interface CreateRules<T> {
  /** Resets what a client may not set (status), fills what the server decides. */
  prepare?(object: T, context: RuleContext): void;
  validate?(object: T, context: RuleContext): FieldError[];
  warnings?(object: T, context: RuleContext): string[];
}

export interface UpdateRules<T> {
  /** Restores what this path may not change from `old`. */
  prepare?(object: T, old: T, context: RuleContext): void;
  validate?(object: T, old: T, context: RuleContext): FieldError[];
  warnings?(object: T, old: T, context: RuleContext): string[];
  /** Fields this path resets, as field paths (`status`, `metadata.labels`): server-side apply does not let its callers own them. */
  readonly resetFields?: readonly string[];
}

export interface DeleteRules<T> {
  /** What DELETE answers once the object is gone. Default `status`. */
  readonly answer?: "object" | "status";
  /** Seconds of grace that a deletion gets, given what was asked for; undefined: the kind has no graceful deletion. */
  gracePeriodSeconds?(object: T, requestedSeconds: number | undefined): number;
  /** What happens to dependents when the request does not say. Default `background`. */
  defaultPropagation?: "background" | "orphan";
  /** Warning that a deletion gets which leaves the propagation to the kind. */
  readonly propagationWarning?: string;
  /** Refuses or warns before a deletion; warnings are returned. */
  check?(object: T, context: RuleContext): { readonly errors?: readonly FieldError[]; readonly warnings?: readonly string[] };
  /** Whether the object stays although its `metadata.finalizers` are empty (namespaces: `spec.finalizers`). */
  holds?(object: T): boolean;
  /** Further changes when a deletion begins, such as the phase Terminating. */
  mark?(object: T): void;
  /** Events ignore the propagation policy and are deleted at once. */
  readonly ignoresPropagation?: boolean;
}

export interface KindStrategy<T extends KubeObject = any> {
  /** The kind that this strategy is for. All served versions of a kind share it; it sees objects in the version named here. */
  readonly gvk: GroupVersionKind;
  /** Rule for `metadata.name`, and for `generateName` when the second argument is true. */
  readonly nameRule: NameRule;
  /** Whether finalizers without a domain are refused. Default true; a few kinds accept them. */
  readonly requiresQualifiedFinalizers?: boolean;
  readonly generation: GenerationRule<T>;
  /** Go's defaulting functions, idempotent, called on every decoded object and on values read from storage. `nowMs`: for times that are set when absent. */
  defaults?(object: T, nowMs: number): void;
  readonly create: CreateRules<T>;
  readonly update: UpdateRules<T> & {
    /** A PUT of a missing name creates it. Default false. */
    readonly allowsCreate?: boolean;
    /** A PUT may leave out the resourceVersion. Default true. */
    readonly allowsUnconditional?: boolean;
  };
  /** Rules of `/status`; absent: the kind has no status subresource. `keepsMetadata`: whether labels and annotations may change there. */
  readonly status?: UpdateRules<T>;
  /** Rules of further subresources that update the whole object: `resize`, `ephemeralcontainers`, `approval`, `finalize`. */
  readonly subresources?: Readonly<Record<string, UpdateRules<T>>>;
  readonly delete?: DeleteRules<T>;
  /** Field labels beside metadata.name and metadata.namespace, with this object's values. The keys are the same for every object. */
  selectableFields?(object: T): Readonly<Record<string, string>>;
}

/** Identity, with the types checked: `export const deployments = defineKind<Deployment>({…})`. */
export function defineKind<T extends KubeObject>(strategy: KindStrategy<T>): KindStrategy<T> {
  return strategy;
}
