// Derives src/api/data/*.json and the generated types.ts files from the facts beside the repository.
//
//   node tools/generate-schema.ts --facts ../shared/facts --golden ../shared/golden --go go-facts.json --lifecycles lifecycles.json
//
// `go-facts.json` is what `cd tools/go-facts && go run . > …` prints: for every API type how Go's JSON sees its fields
// (pointer, omitempty, omitzero, protobuf number, embedded structs). The compact form is documented in src/apimachinery/schema.ts.
// `lifecycles.json` is what `go run . lifecycles` prints: the releases in which each version of a kind came, is deprecated and goes.
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { parseArgs } from "node:util";

type Json = Record<string, any>;
const { values } = parseArgs({
  options: {
    facts: { type: "string" },
    golden: { type: "string" },
    go: { type: "string" },
    lifecycles: { type: "string" },
    out: { type: "string", default: "src/api/data" },
  },
});
const read = (file: string): Json => JSON.parse(readFileSync(file, "utf8"));
const openapi = read(`${values.facts}/openapi-1.37.json`);
const go = read(values.go!);
const lifecycles = read(values.lifecycles!);
const discovery = read(`${values.golden}/facts/discovery.json`);
const columns = read(`${values.golden}/facts/columns.json`);
/** A server with every version and every gate on. */
const everything: Json[] = read(`${values.golden}/flags/alpha-discovery.json`).steps;

/** `k8s.io/api/core/v1.Pod` → `api.core.v1.Pod` (OpenAPI's name without `io.k8s.`). */
function shortName(goName: string): string {
  return goName.replace(/^k8s\.io\//, "").replaceAll("/", ".");
}
/** Type expression of the compact form: package paths shortened, named scalars as `pkg.Name=kind`. */
function typeExpression(type: string): string {
  const shortened = type.replace(/k8s\.io\/[\w./-]+/g, (name) => shortName(name));
  return shortened.replace(/named:/g, "").replace(/\bstruct \{\}/g, "any");
}

/** Groups whose kinds are behind gates: the OpenAPI document lacks them. */
const gatedGroups: Json = {
  "lifecycle.v1alpha1": "lifecycle.k8s.io/v1alpha1",
  "scheduling.v1alpha3": "scheduling.k8s.io/v1alpha3",
  "scheduling.v1beta1": "scheduling.k8s.io/v1beta1",
};
/** Their lists, by field. */
const byName = { listType: "map", listMapKeys: ["name"] };
const gatedLists: Json = {
  conditions: { listType: "map", listMapKeys: ["type"], patchStrategy: "merge", patchMergeKey: "type" },
  topology: { listType: "atomic" },
  ...Object.fromEntries(
    ["resourceClaims", "resourceClaimStatuses", "podGroupTemplates", "compositePodGroupTemplates", "requesters", "targetResponders", "responders"].map(
      (name) => [name, byName],
    ),
  ),
};
/** `api.scheduling.v1beta1.PodGroup` → `scheduling.v1beta1`. */
const groupVersionOf = (short: string) => /^api\.(\w+\.\w+)\.\w+$/.exec(short)?.[1] ?? "";

const kept = new Set<string>();
function keep(name: string): void {
  if (kept.has(name) || !(name in go)) return;
  kept.add(name);
  for (const field of go[name] ?? []) for (const match of field.type.matchAll(/k8s\.io\/[\w./-]+/g)) keep(match[0]);
}
for (const name of Object.keys(go)) {
  const short = shortName(name);
  if (
    openapi.definitions[`io.k8s.${short}`] !== undefined ||
    gatedGroups[groupVersionOf(short)] !== undefined ||
    /^api\.(admission\.v1|imagepolicy)\b/.test(short) ||
    /meta\.v1\.(Table|PartialObject|APIVersions|APIGroup|APIResource)/.test(short)
  )
    keep(name);
}

/** Defaults of list keys that OpenAPI declares and the facts leave out: server-side apply tells list items apart by them. */
const listKeyDefaults: Json = {
  "api.core.v1.ContainerPort.protocol": "TCP",
  "api.core.v1.LocalObjectReference.name": "",
  "api.core.v1.ServicePort.protocol": "TCP",
};

const types: Json = {};
for (const name of [...kept].sort()) {
  const short = shortName(name);
  const definition: Json = openapi.definitions[`io.k8s.${short}`] ?? {};
  const gatedGroup: string | undefined = gatedGroups[groupVersionOf(short)];
  const isGated = gatedGroup !== undefined && openapi.definitions[`io.k8s.${short}`] === undefined;
  const fields = (go[name] ?? []).map((field: Json) => {
    const property: Json = definition.properties?.[field.name] ?? {};
    const items: Json = property.items ?? {};
    const extra: Json = {};
    if (isGated) Object.assign(extra, gatedLists[field.name]);
    if (property.listType !== undefined) extra.listType = property.listType;
    if (property.listMapKeys !== undefined) extra.listMapKeys = property.listMapKeys;
    if (property.patchStrategy !== undefined) extra.patchStrategy = property.patchStrategy;
    if (property.patchMergeKey !== undefined) extra.patchMergeKey = property.patchMergeKey;
    if (property.mapType !== undefined) extra.mapType = property.mapType;
    if (property.enum !== undefined) extra.enum = property.enum;
    if (items.enum !== undefined) extra.itemEnum = items.enum;
    if (property.format !== undefined) extra.format = property.format;
    const defaultValue = property.default ?? listKeyDefaults[`${short}.${field.name}`];
    if (defaultValue !== undefined) extra.default = defaultValue;
    if ((definition.required ?? []).includes(field.name)) extra.required = true;
    const embedded = (field.embedded ?? []).filter((struct: Json) => struct.name !== "TypeMeta");
    if (embedded.length > 0) extra.embedded = embedded.map((struct: Json) => [struct.name, struct.number ?? 0]);
    // What an embedded struct without a number holds (TypeMeta) is not part of the message.
    const number = (field.embedded ?? []).some((struct: Json) => struct.number === undefined) ? 0 : (field.number ?? 0);
    const row: unknown[] = [field.name, typeExpression(field.type), field.flags ?? "", number];
    if (Object.keys(extra).length > 0) row.push(extra);
    return row;
  });
  const entry: Json = { fields };
  if (definition.gvk !== undefined) entry.gvk = definition.gvk.map((gvk: Json) => [gvk.group, gvk.version, gvk.kind]);
  if (isGated && fields[0]?.[0] === "kind") entry.gvk = [[...gatedGroup.split("/"), short.slice(short.lastIndexOf(".") + 1)]];
  if (definition.mapType !== undefined) entry.mapType = definition.mapType;
  if (definition.unions !== undefined) entry.unions = definition.unions;
  if (definition.format !== undefined) entry.format = definition.format;
  types[short] = entry;
}

mkdirSync(values.out!, { recursive: true });
/** One line per top-level entry: small, and a diff shows which type moved. */
function writeLines(file: string, table: Json): void {
  const lines = Object.entries(table).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  writeFileSync(`${values.out}/${file}`, `{\n${lines.join(",\n")}\n}\n`);
}
writeLines("types.json", types);

const resources: Json = {};
for (const group of discovery.groups) resources[group.group === "" ? "core" : group.group] = group;
writeLines("discovery.json", resources);
// Every gate (the facts leave out those that are GA), and how they stood in the releases that can be emulated, where they differ.
const { "1.37": gatesToday, ...earlier } = read(`${values.golden}/flags/goaway.json`).gates;
const gateOf = (text: string) => ({ default: text.endsWith(" on"), stage: text.split(" ")[0] });
writeLines(
  "feature-gates.json",
  Object.fromEntries(
    Object.keys(gatesToday)
      .sort()
      .map((name) => [name, gateOf(gatesToday[name])]),
  ),
);
writeLines("feature-gates-emulated.json", earlier);
const flagSections: Json = read(`${values.facts}/flags-1.37.json`)["kube-apiserver"];
writeLines("apiserver-flags.json", Object.assign({}, ...Object.values(flagSections)));
const answers = (path: string) => everything.filter((step) => step.do.path === path).map((step) => step.expect.body);
const [legacyGroups] = answers("/apis");
const [, allGroups] = answers("/apis");
const isByDefault = (group: string, version: string, name: string) =>
  discovery.groups
    .find((one: Json) => one.group === group)
    ?.versions.some((one: Json) => one.version === version && one.resources.some((resource: Json) => resource.name === name));
const onRequest: Json = {};
for (const { metadata, versions } of allGroups) {
  const further = versions
    .map(({ version, resources: all }: Json) => ({
      version,
      resources: all.map(discovered).filter(({ name }: Json) => !isByDefault(metadata.name, version, name)),
    }))
    .filter((version: Json) => version.resources.length > 0);
  if (further.length > 0) onRequest[metadata.name] = { group: metadata.name, versions: further };
}
/** A resource of aggregated discovery, in the form of the facts. */
function discovered({ resource, singularResource, scope, responseKind, verbs, shortNames, categories, subresources }: Json): Json {
  return {
    name: resource,
    singularName: singularResource,
    namespaced: scope === "Namespaced",
    kind: responseKind.kind,
    verbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(subresources && { subresources: subresources.map((one: Json) => ({ name: one.subresource, responseKind: one.responseKind, verbs: one.verbs })) }),
  };
}
writeLines("discovery-on-request.json", onRequest);
const groupsServed = [...discovery.groups, ...Object.values<Json>(onRequest)];
const kindsServed = groupsServed.flatMap(({ group, versions }: Json) =>
  versions.flatMap(({ version, resources: all }: Json) => all.map(({ kind }: Json) => `${group === "" ? "" : `${group}/`}${version} ${kind}`)),
);
writeLines(
  "lifecycles.json",
  Object.fromEntries(
    [...new Set<string>(kindsServed)]
      .sort()
      .filter((kind) => lifecycles[kind] !== undefined)
      .map((kind) => [kind, lifecycles[kind]]),
  ),
);
// Columns of kinds that are served on request only: from the recordings of their tables.
const furtherColumns: Json = {};
for (const file of readdirSync(`${values.golden}/flags`)) {
  for (const step of read(`${values.golden}/flags/${file}`).steps ?? []) {
    const match = /^\/apis\/([^/]+)\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/?]+)/.exec(step.do?.path ?? "");
    const found = step.expect?.body?.columnDefinitions;
    if (match === null || found === undefined) continue;
    const [, group, version, name] = match as unknown as string[];
    const isKnown = Object.keys(columns.columns).some((path) => path.startsWith(`${group}/`) && path.endsWith(`/${name}`));
    if (!isKnown) furtherColumns[`${group}/${version}/${name}`] = found;
  }
}
writeLines("columns.json", {
  ...columns.columns,
  ...Object.fromEntries(
    Object.keys(furtherColumns)
      .sort()
      .map((path) => [path, furtherColumns[path]]),
  ),
});
writeLines("group-order.json", {
  groups: legacyGroups.groups.map((group: Json) => group.name),
  versions: {
    "": ["v1"],
    ...Object.fromEntries(legacyGroups.groups.map((group: Json) => [group.name, group.versions.map((version: Json) => version.version)])),
  },
});
const health = read(`${values.golden}/facts/health-checks.json`)["kube-apiserver"];
writeLines("health-checks.json", Object.fromEntries(["healthz", "livez", "readyz"].map((name) => [name, health[name].checks])));
writeLines("bootstrap-rbac.json", read(`${values.golden}/facts/bootstrap-rbac.json`));
writeLines("bootstrap-objects.json", read(`${values.golden}/facts/bootstrap-objects.json`));
writeLines("bootstrap-flowcontrol.json", read(`${values.golden}/facts/bootstrap-flowcontrol.json`));
// TypeScript interfaces of the served versions, one file per group-version folder.
const folders = new Map<string, string>();
/** Versions served on request only that kinds are stored in: their rules are written on these types. */
const storedOnRequest = [
  "apiserverinternal-v1alpha1",
  "coordination-v1beta1",
  "lifecycle-v1alpha1",
  "resource-v1alpha3",
  "scheduling-v1alpha3",
  "scheduling-v1beta1",
];
function folderOf(typeName: string): string | undefined {
  const meta = /^apimachinery\.pkg\.apis\.(meta)\.(v1)\.\w+$/.exec(typeName);
  const match = meta ?? /^(?:api|apiextensions-apiserver\.pkg\.apis|kube-aggregator\.pkg\.apis)\.(\w+)\.(v\d+(?:alpha\d+|beta\d+)?)\.\w+$/.exec(typeName);
  return match === null ? undefined : `${match[1]}-${match[2]}`;
}
const special: Record<string, string> = {
  Time: "string",
  MicroTime: "string",
  Duration: "string",
  Quantity: "string | number",
  IntOrString: "number | string",
  RawExtension: "JsonObject",
  FieldsV1: "JsonObject",
  JSON: "JsonValue",
  JSONSchemaPropsOrArray: "JsonValue",
  JSONSchemaPropsOrBool: "JsonValue",
  JSONSchemaPropsOrStringArray: "JsonValue",
};
function typescript(type: string, uses: Set<string>, folder: string): string {
  if (type.startsWith("*")) return typescript(type.slice(1), uses, folder);
  if (type.startsWith("[]")) {
    const items = typescript(type.slice(2), uses, folder);
    return /[ |]/.test(items) ? `(${items})[]` : `${items}[]`;
  }
  if (type.startsWith("map[")) return `Record<string, ${typescript(type.slice(type.indexOf("]") + 1), uses, folder)}>`;
  if (type === "bytes" || type === "string") return "string";
  if (type === "bool") return "boolean";
  if (/^(u?int\d*|float\d+)$/.test(type)) return "number";
  if (type === "any") return "JsonValue";
  const equals = type.indexOf("=");
  if (equals > 0) return typescript(type.slice(equals + 1), uses, folder);
  const name = type.slice(type.lastIndexOf(".") + 1);
  const isSpecial = special[name] !== undefined && /^(apimachinery|apiextensions-apiserver)/.test(type);
  if (isSpecial) {
    for (const word of special[name]!.match(/Json\w+/g) ?? []) uses.add(`json:${word}`);
    return special[name]!;
  }
  const home = folderOf(type);
  if (home === undefined) return "unknown";
  if (home !== folder) uses.add(`${home}:${name}`);
  return name;
}
const served = new Set<string>(
  discovery.groups.flatMap((group: Json) =>
    group.versions.map((version: Json) => `${group.group === "" ? "core" : group.group.split(".")[0]}-${version.version}`),
  ),
);
for (const name of ["meta-v1", "rbac-v1", "autoscaling-v1", "flowcontrol-v1", "admission-v1", "storagemigration-v1", ...storedOnRequest]) served.add(name);
for (const [name, entry] of Object.entries(types)) {
  const folder = folderOf(name);
  if (folder === undefined || !served.has(folder) || special[name.slice(name.lastIndexOf(".") + 1)] !== undefined) continue;
  const uses = new Set<string>();
  const lines = entry.fields.map(([field, type, flags, , extra]: any[]) => {
    const isOptional = flags.includes("e") || type.startsWith("*") || type.startsWith("[]") || extra?.required !== true;
    return `  ${/^[\w$]+$/.test(field) ? field : JSON.stringify(field)}${isOptional && !(entry.gvk && field === "metadata") ? "?" : ""}: ${typescript(type, uses, folder)};`;
  });
  const goName = name.slice(name.lastIndexOf(".") + 1);
  const body = `export interface ${goName} {\n${lines.join("\n")}\n${entry.gvk ? "  [member: string]: unknown;\n" : ""}}\n`;
  folders.set(folder, `${folders.get(folder) ?? ""}${[...uses].map((use) => `//use ${use}\n`).join("")}${body}`);
}
for (const [folder, text] of folders) {
  const uses = new Set([...text.matchAll(/^\/\/use (.+)$/gm)].map((match) => match[1]!));
  const imports = new Map<string, string[]>();
  for (const use of [...uses].sort()) {
    const [from, name] = use.split(":") as [string, string];
    const file = from === "json" ? "../../apimachinery/json.ts" : `../${from}/types.ts`;
    imports.set(file, [...(imports.get(file) ?? []), name]);
  }
  const head = [...imports].map(([file, names]) => `import type { ${names.join(", ")} } from "${file}";\n`).join("");
  mkdirSync(`src/api/${folder}`, { recursive: true });
  writeFileSync(
    `src/api/${folder}/types.ts`,
    `// Generated by tools/generate-schema.ts from the facts; do not edit.\n${head}\n${text.replace(/^\/\/use .+\n/gm, "")}`,
  );
}
