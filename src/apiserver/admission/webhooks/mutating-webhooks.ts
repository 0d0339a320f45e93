/** MutatingAdmissionWebhook: servers elsewhere that may change an object, one after the other (documentation page "Dynamic Admission Control"). */
import { deepEqual } from "../../../apimachinery/json.ts";
import { StatusError } from "../../../apimachinery/status.ts";
import { timed } from "../../audit/latencies.ts";
import { annotate } from "../audit-annotations.ts";
import { noteChange, reinvocationOf } from "../chain.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { AskedDecisions } from "../matching/authorization.ts";
import { RequestView } from "../matching/request-view.ts";
import { isExempt } from "../matching/rules.ts";
import { ask, failureOf, isWanted } from "./ask.ts";
import { webhookIndex } from "./configurations.ts";
import type { CompiledWebhook } from "./configurations.ts";
import { patched } from "./patch-object.ts";

const webhooksOf = webhookIndex("admissionregistration.k8s.io/mutatingwebhookconfigurations");

export const mutatingAdmissionWebhook: AdmissionPlugin = {
  name: "MutatingAdmissionWebhook",
  operations: new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
  mutate(request) {
    const webhooks = webhooksOf(request.context.server);
    if (webhooks.length === 0 || isExempt(request)) return;
    return mutate(request, webhooks);
  },
};

async function mutate(request: AdmissionRequest, webhooks: readonly CompiledWebhook[]): Promise<void> {
  const decisions = new AskedDecisions(request.context.server.authorizer, request.context.user);
  const reinvocation = reinvocationOf(request);
  let index = 0;
  for (const webhook of webhooks) {
    if (reinvocation.round > 0 && !reinvocation.again.has(webhook)) continue;
    const definition = webhook.match(request);
    if (definition === undefined) continue;
    const view = new RequestView(request, definition);
    await view.prepare();
    if (!(await isWanted(webhook, view, decisions))) continue;
    const isChanged = await invoke(webhook, view, `round_${reinvocation.round}_index_${index++}`);
    if (isChanged) noteChange(reinvocation);
    if (webhook.source.reinvocationPolicy === "IfNeeded") reinvocation.earlier.add(webhook);
  }
}

/** Whether the object is another one afterwards. */
async function invoke(webhook: CompiledWebhook, view: RequestView, place: string): Promise<boolean> {
  const { context } = view.request;
  const note = (mutated: boolean) =>
    annotate(
      context,
      `mutation.webhook.admission.k8s.io/${place}`,
      JSON.stringify({ configuration: webhook.configurationName, webhook: webhook.source.name, mutated }),
    );
  try {
    const before = view.object;
    const answer = await timed(context, "mutating-webhook", () => ask(webhook, view, true));
    const isChanged = before !== null && (await patched(view, answer)) && !deepEqual(before, view.object);
    note(isChanged);
    return isChanged;
  } catch (error) {
    note(false);
    if (webhook.failsOpen && !(error instanceof StatusError)) annotate(context, `failed-open.mutation.webhook.admission.k8s.io/${place}`, webhook.source.name);
    const failure = failureOf(webhook, error);
    if (failure !== undefined) throw failure;
    return false;
  }
}
