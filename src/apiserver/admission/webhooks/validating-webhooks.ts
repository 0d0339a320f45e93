/** ValidatingAdmissionWebhook: servers elsewhere that may refuse a request; all are asked at once (documentation page "Dynamic Admission Control"). */
import { StatusError } from "../../../apimachinery/status.ts";
import { timed } from "../../audit/latencies.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { annotate } from "../audit-annotations.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { AskedDecisions } from "../matching/authorization.ts";
import { RequestView } from "../matching/request-view.ts";
import { isExempt } from "../matching/rules.ts";
import { ask, failureOf, isWanted } from "./ask.ts";
import { webhookIndex } from "./configurations.ts";
import type { CompiledWebhook } from "./configurations.ts";

const webhooksOf = webhookIndex("admissionregistration.k8s.io/validatingwebhookconfigurations");

export const validatingAdmissionWebhook: AdmissionPlugin = {
  name: "ValidatingAdmissionWebhook",
  operations: new Set(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
  validate(request) {
    const webhooks = webhooksOf(request.context.server);
    if (webhooks.length === 0 || isExempt(request)) return;
    const meant = webhooks.flatMap((webhook) => {
      const definition = webhook.match(request);
      return definition === undefined ? [] : [{ webhook, definition }];
    });
    if (meant.length > 0) return validate(request, meant);
  },
};

type MeantWebhook = { readonly webhook: CompiledWebhook; readonly definition: ResourceDefinition };

async function validate(request: AdmissionRequest, meant: readonly MeantWebhook[]): Promise<void> {
  const decisions = new AskedDecisions(request.context.server.authorizer, request.context.user);
  const views = new Map(meant.map(({ definition }) => [definition, new RequestView(request, definition)]));
  for (const view of views.values()) await view.prepare();
  const wanted: MeantWebhook[] = [];
  for (const each of meant) if (await isWanted(each.webhook, views.get(each.definition)!, decisions)) wanted.push(each);
  const failures = await timed(request.context, "validating-webhook", () =>
    Promise.all(wanted.map(({ webhook, definition }, index) => failure(webhook, views.get(definition)!, index))),
  );
  const first = failures.find((error) => error !== undefined);
  if (first !== undefined) throw first;
}

async function failure(webhook: CompiledWebhook, view: RequestView, index: number): Promise<unknown> {
  try {
    await ask(webhook, view, false);
    return undefined;
  } catch (error) {
    if (webhook.failsOpen && !(error instanceof StatusError))
      annotate(view.request.context, `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`, webhook.source.name);
    return failureOf(webhook, error);
  }
}
