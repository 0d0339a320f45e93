/** What one policy says of one request with one set of parameters. */
import type { JsonObject } from "../../../apimachinery/json.ts";
import { isCelError } from "../../../apimachinery/cel/index.ts";
import type { AskedDecisions } from "../matching/authorization.ts";
import { checkConditions, evaluationFault } from "../matching/conditions.ts";
import { Evaluator } from "../matching/evaluator.ts";
import type { RequestView } from "../matching/request-view.ts";
import type { CompiledPolicy, CompiledValidation } from "./compiled-policy.ts";

export interface Verdict {
  readonly denials: readonly Denial[];
  /** By key, as the policy names them. */
  readonly auditAnnotations: readonly (readonly [key: string, value: string])[];
}

export interface Denial {
  readonly message: string;
  /** A metav1.StatusReason; absent: the default. */
  readonly reason?: string;
  /** Of the validation that failed; absent when none was come to. */
  readonly index?: number;
}

export interface PolicyRequest {
  readonly view: RequestView;
  readonly decisions: AskedDecisions;
  readonly params: JsonObject | null | undefined;
}

const nothing: Verdict = { denials: [], auditAnnotations: [] };
/** What the validations of one policy may cost for a request. */
const costBudget = 10_000_000;
const maxMessageBytes = 5 * 1024;
const maxAnnotationBytes = 10 * 1024;

export async function validateRequest(policy: CompiledPolicy, { view, decisions, params }: PolicyRequest): Promise<Verdict> {
  const { rules, failsOpen } = policy;
  const scope = { view, decisions, ...(params !== undefined && { params }) };
  const outcome = await checkConditions(rules.conditions, scope);
  if (outcome === "does not match") return nothing;
  if (outcome !== "matches") return failsOpen ? nothing : { denials: [{ message: outcome.fault }], auditAnnotations: [] };
  const evaluator = new Evaluator({ ...scope, variables: rules.variables, costBudget });
  const denials: Denial[] = [];
  for (const [index, validation] of rules.validations.entries()) {
    const denial = await denialOf(validation, evaluator);
    if (denial === undefined || (denial.isFault && failsOpen)) continue;
    denials.push({ message: denial.message, ...(denial.reason !== undefined && { reason: denial.reason }), index });
    if (denial.isLast === true) break;
  }
  return { denials, auditAnnotations: await annotationsOf(policy, evaluator) };
}

type FoundDenial = Denial & { readonly isFault: boolean; readonly isLast?: boolean };

async function denialOf({ source, compiled, message }: CompiledValidation, evaluator: Evaluator): Promise<FoundDenial | undefined> {
  if ("fault" in compiled) return { message: compiled.fault, isFault: true };
  const result = await evaluator.evaluate(compiled);
  if ("error" in result)
    return { message: result.outOfBudget ? result.error : evaluationFault(source.expression, result.error), isFault: true, isLast: result.outOfBudget };
  if (result.value === true) return undefined;
  const told = message === undefined ? undefined : messageText(await evaluator.evaluate(message));
  const written = (source.message ?? "").trim();
  const text = told ?? (written === "" ? `failed expression: ${source.expression.trim()}` : written);
  return { message: text, isFault: false, ...(source.reason !== undefined && { reason: source.reason }) };
}

/** One line of text that is not too long; else the written message counts. */
function messageText(result: Awaited<ReturnType<Evaluator["evaluate"]>>): string | undefined {
  if (!("value" in result) || typeof result.value !== "string" || isCelError(result.value)) return undefined;
  const text = result.value.trim();
  return text === "" || /[\n\r]/.test(text) || Buffer.byteLength(text) > maxMessageBytes ? undefined : text;
}

async function annotationsOf({ rules }: CompiledPolicy, evaluator: Evaluator): Promise<[string, string][]> {
  const annotations: [string, string][] = [];
  for (const { source, compiled } of rules.auditAnnotations) {
    if ("fault" in compiled) continue;
    const result = await evaluator.evaluate(compiled);
    if (!("value" in result) || typeof result.value !== "string") continue;
    const value = result.value.trim();
    if (value !== "") annotations.push([source.key, Buffer.from(value).subarray(0, maxAnnotationBytes).toString()]);
  }
  return annotations;
}
