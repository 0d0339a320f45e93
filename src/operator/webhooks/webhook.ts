/** Admission webhooks of an operator: pure functions of the object, served by the SDK (documentation page "Dynamic Admission Control"). */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/request.ts";
import type { ResourceType } from "../../client/index.ts";

/** The writes that a webhook hears of. */
export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** A write that an admission webhook is asked about. */
export interface AdmissionInput<T extends KubeObject> {
  readonly operation: Operation;
  /** The object as it would be; of a deletion as it is. */
  readonly object: DeepReadonly<T>;
  /** Before an update. */
  readonly old: DeepReadonly<T> | undefined;
  readonly user: UserInfo;
  readonly isDryRun: boolean;
}

/** A list of refusals, each a sentence; empty or undefined admits. Warnings are shown to the user either way. */
export type Verdict = readonly string[] | undefined | { readonly refusals?: readonly string[]; readonly warnings?: readonly string[] };

interface WebhookOptions<T extends KubeObject> {
  readonly for: ResourceType<T>;
  /** Default: CREATE and UPDATE. */
  readonly operations?: readonly Operation[];
  /** What happens when the operator cannot be reached. Default `Fail`. */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Default 10 s. */
  readonly timeoutSeconds?: number;
}

/** An admission webhook, served by the operator; `validating` and `mutating` make one. */
export interface Webhook {
  readonly kind: "validating" | "mutating";
  readonly resource: ResourceType;
  readonly operations: readonly Operation[];
  readonly failurePolicy: "Fail" | "Ignore";
  readonly timeoutSeconds: number;
  readonly path: string;
  /** What the function of the operator says: a verdict, or the object as it should be. */
  answer(input: AdmissionInput<KubeObject>): Answer;
}
export interface Answer {
  readonly refusals: readonly string[];
  readonly warnings: readonly string[];
  /** Of a mutating webhook. */
  readonly object?: DeepReadonly<KubeObject>;
}

/** A webhook that admits or refuses. */
export function validating<T extends KubeObject>(options: WebhookOptions<T> & { validate(input: AdmissionInput<T>): Verdict }): Webhook {
  const answer = (input: AdmissionInput<KubeObject>) => {
    const verdict = options.validate(input as unknown as AdmissionInput<T>);
    const { refusals = [], warnings = [] } = verdict === undefined ? {} : isList(verdict) ? { refusals: verdict } : verdict;
    return { refusals, warnings };
  };
  return webhook("validating", options, answer);
}

/** `mutate` returns the object as it should be stored; it may change a copy (`edited`), and must answer itself with no change. */
export function mutating<T extends KubeObject>(options: WebhookOptions<T> & { mutate(input: AdmissionInput<T>): DeepReadonly<T> }): Webhook {
  const answer = (input: AdmissionInput<KubeObject>) => ({
    refusals: [],
    warnings: [],
    object: options.mutate(input as unknown as AdmissionInput<T>) as DeepReadonly<KubeObject>,
  });
  return webhook("mutating", options, answer);
}

function webhook<T extends KubeObject>(kind: Webhook["kind"], options: WebhookOptions<T>, answer: Webhook["answer"]): Webhook {
  const { group, version, resource } = options.for;
  return {
    kind,
    resource: options.for as unknown as ResourceType,
    operations: options.operations ?? ["CREATE", "UPDATE"],
    failurePolicy: options.failurePolicy ?? "Fail",
    timeoutSeconds: options.timeoutSeconds ?? 10,
    path: `/${kind}/${group === "" ? "core" : group}/${version}/${resource}`,
    answer,
  };
}

function isList(verdict: NonNullable<Verdict>): verdict is readonly string[] {
  return Array.isArray(verdict);
}
