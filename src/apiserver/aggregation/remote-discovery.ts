/**
 * What an extension API server serves in one version, as an entry of aggregated discovery (API type APIVersionDiscovery). Pure. Others read these
 * entries as if we had written them, so that everything in them has the right type; what has not is left out.
 */
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject, JsonValue } from "../../apimachinery/json.ts";

/** From an APIGroupDiscoveryList; undefined when the version is not in it. */
export function versionInGroups(document: JsonObject, group: string, version: string): JsonObject | undefined {
  const found = objects(document["items"]).find((item) => objects([item["metadata"] ?? null])[0]?.["name"] === group);
  const entry = objects(found?.["versions"]).find((candidate) => candidate["version"] === version);
  return (
    entry && {
      version,
      resources: objects(entry["resources"])
        .filter((resource) => isName(resource["resource"]))
        .map(resourceEntry),
    }
  );
}

/** From an APIResourceList. */
export function versionOfResources(document: JsonObject, version: string): JsonObject {
  const listed = objects(document["resources"]).filter(({ name }) => isName(name));
  const own = listed.filter(({ name }) => !(name as string).includes("/"));
  return { version, resources: own.map((resource) => resourceEntry(fromLegacy(resource, listed))) };
}

function resourceEntry({ resource, responseKind, scope, singularResource, verbs, shortNames, categories, subresources }: JsonObject): JsonObject {
  const parts = objects(subresources).filter(({ subresource }) => isName(subresource));
  return {
    resource: resource!,
    responseKind: kindOf(responseKind),
    scope: scope === "Namespaced" ? "Namespaced" : "Cluster",
    singularResource: text(singularResource),
    verbs: texts(verbs),
    ...(texts(shortNames).length > 0 && { shortNames: texts(shortNames) }),
    ...(texts(categories).length > 0 && { categories: texts(categories) }),
    ...(parts.length > 0 && {
      subresources: parts.map((part) => ({ subresource: part["subresource"]!, responseKind: kindOf(part["responseKind"]), verbs: texts(part["verbs"]) })),
    }),
  };
}

function fromLegacy(resource: JsonObject, listed: readonly JsonObject[]): JsonObject {
  const { name, singularName = "", namespaced } = resource;
  const prefix = `${name as string}/`;
  const parts = listed.filter((other) => (other["name"] as string).startsWith(prefix));
  const subresources = parts.map((part) => ({ subresource: (part["name"] as string).slice(prefix.length), responseKind: part, verbs: part["verbs"] ?? [] }));
  return {
    ...resource,
    resource: name!,
    responseKind: resource,
    scope: namespaced === true ? "Namespaced" : "Cluster",
    singularResource: singularName,
    subresources,
  };
}

function kindOf(value: JsonValue | undefined): JsonObject {
  const [{ group, version, kind } = {} as JsonObject] = objects([value ?? null]);
  return { group: text(group), version: text(version), kind: text(kind) };
}

const isName = (value: JsonValue | undefined) => typeof value === "string" && value !== "";
const text = (value: JsonValue | undefined) => (typeof value === "string" ? value : "");
const texts = (value: JsonValue | undefined) => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);
const objects = (value: JsonValue | undefined) => (Array.isArray(value) ? value.filter(isObject) : []);
