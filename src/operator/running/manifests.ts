/** What an operator needs in a cluster, as objects and as YAML. Pure. */
import { dump } from "js-yaml";
import type { PolicyRule } from "../../api/rbac-v1/types.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { OperatorDefinition } from "./define-operator.ts";
import { rightsOf } from "./rbac.ts";

/** How an operator is to be installed. */
export interface ManifestOptions {
  /** Where the operator itself lives. Default `NAME-system`. */
  readonly namespace?: string;
  /** With it there is a Deployment that runs the operator; its command is the image's own. */
  readonly image?: string;
  /** Default 1; of several one leads. */
  readonly replicas?: number;
}

/** Port of the webhook server, and of health and metrics. */
export const webhookPort = 9443;
export const healthPort = 8081;

const rbacGroup = "rbac.authorization.k8s.io";

/** In the order in which they are applied: definitions, namespace, rights, Service, Deployment. */
export function manifestsOf(operator: OperatorDefinition, options: ManifestOptions = {}): KubeObject[] {
  const { name, definitions, webhooks } = operator;
  const namespace = options.namespace ?? `${name}-system`;
  const servesWebhooks = webhooks.length > 0 || definitions.some(({ versions }) => versions.length > 0);
  return [
    ...definitions.map(({ definition }) => definition as unknown as KubeObject),
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    ...rbacObjects(operator, namespace),
    ...(servesWebhooks && options.image !== undefined ? [webhookService(name, namespace)] : []),
    ...(options.image === undefined ? [] : [deployment(name, namespace, { image: options.image, replicas: options.replicas ?? 1 })]),
  ];
}

/** Several YAML documents. */
export function yamlOf(objects: readonly KubeObject[]): string {
  return objects.map((object) => dump(object, { lineWidth: -1, noRefs: true })).join("---\n");
}

function rbacObjects(operator: OperatorDefinition, namespace: string): KubeObject[] {
  const { name } = operator;
  const rights = rightsOf(operator);
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const objects: KubeObject[] = [];
  const grant = (place: string | undefined, roleName: string, rules: readonly PolicyRule[]) => {
    if (rules.length === 0) return;
    const prefix = place === undefined ? "Cluster" : "";
    const metadata = { name: roleName, ...(place !== undefined && { namespace: place }) };
    objects.push({ apiVersion: `${rbacGroup}/v1`, kind: `${prefix}Role`, metadata, rules });
    objects.push({
      apiVersion: `${rbacGroup}/v1`,
      kind: `${prefix}RoleBinding`,
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: `${prefix}Role`, name: roleName },
      subjects,
    });
  };
  if (operator.namespace === undefined) grant(undefined, name, [...rights.work, ...rights.cluster]);
  else {
    grant(operator.namespace, name, rights.work);
    grant(undefined, name, rights.cluster);
  }
  grant(namespace, `${name}-own`, rights.own);
  return objects;
}

function webhookService(name: string, namespace: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { selector: { app: name }, ports: [{ name: "webhooks", port: 443, targetPort: webhookPort }] },
  };
}

function deployment(name: string, namespace: string, { image, replicas }: { image: string; replicas: number }): KubeObject {
  const labels = { app: name };
  const fieldOf = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } });
  const probe = (path: string) => ({ httpGet: { path, port: healthPort } });
  const container = {
    name: "operator",
    image,
    env: [
      { name: "POD_NAME", ...fieldOf("metadata.name") },
      { name: "POD_NAMESPACE", ...fieldOf("metadata.namespace") },
    ],
    ports: [
      { name: "webhooks", containerPort: webhookPort },
      { name: "health", containerPort: healthPort },
    ],
    livenessProbe: probe("/healthz"),
    readinessProbe: probe("/readyz"),
    resources: { requests: { cpu: "10m", memory: "64Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
  const template = { metadata: { labels }, spec: { serviceAccountName: name, containers: [container] } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace, labels }, spec: { replicas, selector: { matchLabels: labels }, template } };
}
