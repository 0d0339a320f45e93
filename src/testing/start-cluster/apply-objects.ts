/** `kubectl apply --server-side` for tests: any objects, by discovery. */
import type { DeepReadonly, JsonObject } from "../../apimachinery/json.ts";
import { parseApiVersion } from "../../apimachinery/object.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { yamlToJson } from "../../apimachinery/yaml/yaml.ts";
import { discoverResources, resourceOfKind, resources } from "../../client/index.ts";
import type { CustomResourceDefinition } from "../../api/apiextensions-v1/types.ts";
import type { ResourceType } from "../../client/index.ts";
import type { TestCluster } from "../cluster.ts";
import type { PassingClock } from "../wall-clock.ts";

export async function applyObjects(cluster: TestCluster<PassingClock>, given: readonly (DeepReadonly<KubeObject> | string)[]): Promise<KubeObject[]> {
  const objects = given.flatMap((item) => (typeof item === "string" ? documents(item) : [item as KubeObject]));
  const applied: KubeObject[] = [];
  for (const object of objects) {
    const resource = await resourceFor(cluster, object);
    const isPlaced = !resource.isNamespaced || object.metadata.namespace !== undefined;
    const body = isPlaced ? object : { ...object, metadata: { ...object.metadata, namespace: "default" } };
    applied.push(await cluster.client.apply(resource, body, { fieldManager: "test", isForced: true }));
    if (object.kind === "CustomResourceDefinition") await established(cluster, object.metadata.name ?? "");
  }
  return applied;
}

/** A line of three dashes cannot stand inside a document: block texts are indented. */
function documents(text: string): KubeObject[] {
  const parsed = text.split(/^---.*$/m).map((part) => yamlToJson(Buffer.from(part)) as unknown as KubeObject | null);
  return parsed.filter((document) => document !== null);
}

async function resourceFor(cluster: TestCluster<PassingClock>, { apiVersion = "", kind = "" }: KubeObject): Promise<ResourceType> {
  const groupVersion = parseApiVersion(apiVersion);
  if (groupVersion === undefined || kind === "")
    throw new TypeError(`an object needs apiVersion and kind; this one has ${JSON.stringify({ apiVersion, kind } satisfies JsonObject)}`);
  const builtIn = Object.values(resources as Readonly<Record<string, ResourceType>>).find(
    (type) => type.kind === kind && type.group === groupVersion.group && type.version === groupVersion.version,
  );
  const found = builtIn ?? resourceOfKind(await discoverResources(cluster.client), { ...groupVersion, kind });
  if (found === undefined) throw new TypeError(`the cluster serves no ${kind} of ${apiVersion}: apply its CustomResourceDefinition first`);
  return found;
}

/** Resolves when the server serves what a definition defines. */
async function established(cluster: TestCluster<PassingClock>, name: string): Promise<void> {
  await cluster.until(async () => {
    const { status, spec } = (await cluster.client.get(resources.customResourceDefinitions, "", name)) as CustomResourceDefinition;
    if (status?.conditions?.find(({ type }) => type === "Established")?.status !== "True") return false;
    return resourceOfKind(await discoverResources(cluster.client), { group: spec.group, kind: spec.names.kind }) !== undefined;
  }, 60_000);
}
