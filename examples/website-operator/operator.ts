import { resources } from "coracle/client";
import { child, condition, defineOperator, defineReconciler, defineResource, schema, validating } from "coracle/operator";
import type { Desired, ObjectOf, PlanInput } from "coracle/operator";

/** The custom resource: one value gives the type, what the server checks, and what `kubectl get` shows. */
export const websites = defineResource({
  group: "example.com",
  kind: "Website",
  shortNames: ["site"],
  spec: schema.object({
    image: schema.text().default("nginx:1.29"),
    replicas: schema.integer({ minimum: 0, maximum: 50 }).default(2),
    domain: schema.text({ pattern: "^[a-z0-9.-]+$" }).immutable("a website keeps its domain"),
    page: schema.text().describe("HTML of the front page").optional(),
  }),
  status: schema.object({ ready: schema.integer() }),
  columns: [
    { name: "Domain", path: ".spec.domain" },
    { name: "Ready", path: ".status.ready", type: "integer" },
    { name: "Up", path: '.status.conditions[?(@.type=="Up")].status' },
  ],
});
export type Website = ObjectOf<typeof websites>;

/** What should be there for a website. A function: no request, no clock, no randomness. */
export function planWebsite({ object, child: childOf }: PlanInput<Website>): Desired<Website> {
  const { image, replicas, domain, page } = object.spec;
  const name = object.metadata.name!;
  const labels = { app: "website", website: name };
  const ready = childOf(resources.deployments, name)?.status?.readyReplicas ?? 0;
  const volumes = page === undefined ? [] : [{ name: "page", configMap: { name } }];
  const volumeMounts = page === undefined ? [] : [{ name: "page", mountPath: "/usr/share/nginx/html" }];
  return {
    children: [
      ...(page === undefined ? [] : [child(resources.configMaps, { metadata: { name }, data: { "index.html": page } })]),
      child(resources.deployments, {
        metadata: { name, labels },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "web", image, ports: [{ containerPort: 80 }], volumeMounts }], volumes } },
        },
      }),
      child(resources.services, { metadata: { name, labels }, spec: { selector: labels, ports: [{ port: 80 }] } }),
    ],
    status: { ready },
    conditions: [condition("Up", ready > 0, ready > 0 ? "Serving" : "NotServing", `${ready} of ${replicas} serve ${domain}`)],
    events: ready > 0 ? [{ type: "Normal", reason: "Up", message: `${domain} is served` }] : [],
    reasons: [`${ready} of ${replicas} are ready`],
  };
}

export const websiteOperator = defineOperator({
  name: "website-operator",
  definitions: [websites],
  reconcilers: [defineReconciler({ for: websites, owns: [resources.deployments, resources.services, resources.configMaps], plan: planWebsite })],
  webhooks: [
    validating({
      for: websites,
      validate: ({ object }) => ({
        refusals: object.spec.domain.endsWith(".example.com") ? [] : [`spec.domain: ${object.spec.domain} is not below example.com`],
        warnings: object.spec.replicas === 0 ? ["with no replicas nobody serves the website"] : [],
      }),
    }),
  ],
});
