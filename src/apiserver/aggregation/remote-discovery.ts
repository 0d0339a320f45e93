/** What an extension API server serves in one version, as an entry of aggregated discovery (API type APIVersionDiscovery). Pure. */
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";

/** From an APIGroupDiscoveryList; undefined when the version is not in it. */
export function versionInGroups(document: JsonObject, group: string, version: string): JsonObject | undefined {
  const found = objects(document["items"]).find((item) => isObject(item["metadata"] ?? null) && (item["metadata"] as JsonObject)["name"] === group);
  const entry = objects(found?.["versions"]).find((candidate) => candidate["version"] === version);
  return entry && { version, resources: objects(entry["resources"]) };
}

/** From an APIResourceList. */
export function versionOfResources(document: JsonObject, version: string): JsonObject {
  const listed = objects(document["resources"]).filter(({ name }) => typeof name === "string");
  const resources = listed.filter(({ name }) => !(name as string).includes("/"));
  return { version, resources: resources.map((resource) => ({ ...aggregatedResource(resource), ...subresourcesIn(listed, resource["name"] as string) })) };
}

function aggregatedResource({ name, singularName, namespaced, kind, group, version, verbs, shortNames, categories }: JsonObject): JsonObject {
  return {
    resource: name!,
    responseKind: { group: group ?? "", version: version ?? "", kind: kind ?? "" },
    scope: namespaced === true ? "Namespaced" : "Cluster",
    singularResource: singularName ?? "",
    verbs: verbs ?? [],
    ...(shortNames !== undefined && { shortNames }),
    ...(categories !== undefined && { categories }),
  };
}

function subresourcesIn(listed: readonly JsonObject[], resource: string): JsonObject {
  const own = listed.filter(({ name }) => (name as string).startsWith(`${resource}/`));
  if (own.length === 0) return {};
  return { subresources: own.map(({ name, kind, group, version, verbs }) => ({ subresource: (name as string).slice(resource.length + 1), responseKind: { group: group ?? "", version: version ?? "", kind: kind ?? "" }, verbs: verbs ?? [] })) };
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
