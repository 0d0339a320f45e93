/** The objects by which the API server learns of an operator's webhooks. Pure. */
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig } from "../../api/admissionregistration-v1/types.ts";
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import type { ResourceDefinition } from "../definition/define-resource.ts";
import type { Webhook } from "./webhook.ts";
import { conversionPath } from "./review.ts";

/** Where a path of the operator's webhook server is, for the API server. */
export type ClientConfigOf = (path: string) => WebhookClientConfig;

export function webhookConfigurations(
  operatorName: string,
  webhooks: readonly Webhook[],
  clientConfig: ClientConfigOf,
): (ValidatingWebhookConfiguration | MutatingWebhookConfiguration)[] {
  return (["mutating", "validating"] as const).flatMap((kind) => {
    const own = webhooks.filter((webhook) => webhook.kind === kind);
    if (own.length === 0) return [];
    return [
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: kind === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration",
        metadata: { name: operatorName },
        webhooks: own.map((webhook) => registration(operatorName, webhook, clientConfig)),
      },
    ];
  });
}

function registration(operatorName: string, { kind, resource, operations, failurePolicy, timeoutSeconds, path }: Webhook, clientConfig: ClientConfigOf) {
  return {
    name: `${kind}.${resource.resource}.${resource.group === "" ? "core" : resource.group}.${operatorName}.operator`,
    clientConfig: clientConfig(path),
    rules: [
      {
        apiGroups: [resource.group],
        apiVersions: [resource.version],
        resources: [resource.resource],
        operations: [...operations],
        scope: resource.isNamespaced ? "Namespaced" : "Cluster",
      },
    ],
    failurePolicy,
    timeoutSeconds,
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    matchPolicy: "Equivalent",
  };
}

/** The definition with its conversions, when it has several versions. */
export function definitionWith({ definition, versions }: ResourceDefinition, clientConfig: ClientConfigOf | undefined): CustomResourceDefinition {
  if (versions.length === 0 || clientConfig === undefined) return definition;
  const conversion = { strategy: "Webhook", webhook: { clientConfig: clientConfig(conversionPath), conversionReviewVersions: ["v1"] } };
  return { ...definition, spec: { ...definition.spec, conversion } };
}
