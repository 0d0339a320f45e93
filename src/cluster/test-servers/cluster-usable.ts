import { Client, resources, watchError } from "../../client/index.ts";
import type { ApiConnection } from "../connections/api-connection.ts";
import type { Environment } from "../environment.ts";
import type { UpOptions } from "../commands/up-options.ts";

/** Resolves when pods can be made: namespace `default` has its service account, where controllers run, and every node of ours is ready. */
export async function clusterUsable({ clock }: Environment, { components, nodes }: UpOptions, api: ApiConnection): Promise<void> {
  const client = new Client({
    transport: api.transportFor({ username: "admin", groups: ["system:masters", "system:authenticated"] }),
    clock,
    userAgent: "coracle",
  });
  const conditions: Promise<void>[] = [];
  if (components.has("controllers")) conditions.push(defaultAccount(client));
  if (components.has("kubelet")) conditions.push(readyNodes(client, nodes));
  await Promise.all(conditions);
}

async function defaultAccount(client: Client): Promise<void> {
  const done = new AbortController();
  for await (const _ of client.watch(resources.serviceAccounts, "default", { fieldSelector: "metadata.name=default" }, done.signal)) return;
}

async function readyNodes(client: Client, count: number): Promise<void> {
  const done = new AbortController();
  const ready = new Set<string>();
  for await (const event of client.watch(resources.nodes, "", {}, done.signal)) {
    if (event.type === "ERROR") throw watchError(event.object);
    const { object } = event;
    if (object.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")) ready.add(object.metadata.name!);
    if (ready.size >= count) return;
  }
}
