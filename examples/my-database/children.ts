/** What a database consists of in the cluster. Pure. */
import { resources } from "coracle/client";
import { child } from "coracle/operator";
import type { Child, PlanInput } from "coracle/operator";
import { agentPort, postgresPort } from "./agent.ts";
import { labels } from "./resources.ts";
import type { MyDatabase } from "./resources.ts";

/** How an instance is run: differs between real PostgreSQL and its simulation. */
export interface InstanceImage {
  /** Such as `postgres:15.6`. */
  image(version: string): string;
  /** Replaces the image's own. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export function childrenOf(input: PlanInput<MyDatabase, { readonly newPasswords: Passwords }>, instances: number, how: InstanceImage): Child[] {
  const { object, observed } = input;
  const name = object.metadata.name!;
  const own = { [labels.database]: name };
  // Passwords are made once; from then on the Secret has them.
  const kept = input.child(resources.secrets, name)?.data;
  const data = kept ?? { superuser: base64(observed.newPasswords.superuser), replication: base64(observed.newPasswords.replication) };
  const service = (suffix: string, selector: Record<string, string>, isHeadless = false) =>
    child(resources.services, {
      metadata: { name: `${name}${suffix}`, labels: own },
      spec: {
        selector: { ...own, ...selector },
        ports: [{ name: "postgres", port: postgresPort }],
        ...(isHeadless && { clusterIP: "None", publishNotReadyAddresses: true }),
      },
    });
  return [
    child(resources.secrets, { metadata: { name, labels: own }, type: "Opaque", data }),
    service("", { [labels.role]: "primary" }),
    service("-read", { [labels.role]: "replica" }),
    service("-pods", {}, true),
    statefulSet(object.spec, { name, own, instances, how }),
  ];
}

export interface Passwords {
  readonly superuser: string;
  readonly replication: string;
}

function statefulSet(
  { version, storage }: PlanInput<MyDatabase>["object"]["spec"],
  { name, own, instances, how }: { name: string; own: Record<string, string>; instances: number; how: InstanceImage },
): Child {
  const env = Object.entries(how.env ?? {}).map(([variable, value]) => ({ name: variable, value }));
  const secret = (variable: string, key: string) => ({ name: variable, valueFrom: { secretKeyRef: { name, key } } });
  const container = {
    name: "postgres",
    image: how.image(version),
    ...(how.command !== undefined && { command: [...how.command] }),
    env: [
      ...env,
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "VERSION", value: version },
      secret("SUPERUSER_PASSWORD", "superuser"),
      secret("REPLICATION_PASSWORD", "replication"),
    ],
    ports: [
      { name: "postgres", containerPort: postgresPort },
      { name: "agent", containerPort: agentPort },
    ],
    readinessProbe: { httpGet: { path: "/ready", port: agentPort }, periodSeconds: 2 },
    volumeMounts: [{ name: "data", mountPath: "/var/lib/mydb" }],
  };
  return child(resources.statefulSets, {
    metadata: { name, labels: own },
    spec: {
      serviceName: `${name}-pods`,
      replicas: instances,
      selector: { matchLabels: own },
      // Instances need not wait for each other, and the operator replaces them itself, the primary last.
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
      template: { metadata: { labels: { ...own, [labels.version]: version } }, spec: { terminationGracePeriodSeconds: 10, containers: [container] } },
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: String(storage) } } } }],
    },
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
