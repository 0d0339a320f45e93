// Derives src/api/data/*.json and the generated types.ts files from the facts beside the repository.
//
//   node tools/generate-schema.ts --facts ../shared/facts --golden ../shared/golden/facts --go go-facts.json
//
// `go-facts.json` is what `cd tools/go-facts && go run . > …` prints: for every API type how Go's JSON sees its fields
// (pointer, omitempty, omitzero, protobuf number, embedded structs). The compact form is documented in src/apimachinery/schema.ts.
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { parseArgs } from "node:util";

type Json = Record<string, any>;
const { values } = parseArgs({
  options: { facts: { type: "string" }, golden: { type: "string" }, go: { type: "string" }, out: { type: "string", default: "src/api/data" } },
});
const read = (file: string): Json => JSON.parse(readFileSync(file, "utf8"));
const openapi = read(`${values.facts}/openapi-1.37.json`);
const go = read(values.go!);
const discovery = read(`${values.golden}/discovery.json`);
const columns = read(`${values.golden}/columns.json`);

/** `k8s.io/api/core/v1.Pod` → `api.core.v1.Pod` (OpenAPI's name without `io.k8s.`). */
function shortName(goName: string): string {
  return goName.replace(/^k8s\.io\//, "").replaceAll("/", ".");
}
/** Type expression of the compact form: package paths shortened, named scalars as `pkg.Name=kind`. */
function typeExpression(type: string): string {
  const shortened = type.replace(/k8s\.io\/[\w./-]+/g, (name) => shortName(name));
  return shortened.replace(/named:/g, "").replace(/\bstruct \{\}/g, "any");
}

const kept = new Set<string>();
function keep(name: string): void {
  if (kept.has(name) || !(name in go)) return;
  kept.add(name);
  for (const field of go[name] ?? []) for (const match of field.type.matchAll(/k8s\.io\/[\w./-]+/g)) keep(match[0]);
}
for (const name of Object.keys(go)) {
  const short = shortName(name);
  if (openapi.definitions[`io.k8s.${short}`] !== undefined || /^api\.(admission\.v1|imagepolicy)\b/.test(short) || /meta\.v1\.(Table|PartialObject|APIVersions|APIGroup|APIResource)/.test(short)) keep(name);
}

/** Defaults of list keys that OpenAPI declares and the facts leave out: server-side apply tells list items apart by them. */
const listKeyDefaults: Json = { "api.core.v1.ContainerPort.protocol": "TCP", "api.core.v1.LocalObjectReference.name": "", "api.core.v1.ServicePort.protocol": "TCP" };

const types: Json = {};
for (const name of [...kept].sort()) {
  const short = shortName(name);
  const definition: Json = openapi.definitions[`io.k8s.${short}`] ?? {};
  const fields = (go[name] ?? []).map((field: Json) => {
    const property: Json = definition.properties?.[field.name] ?? {};
    const items: Json = property.items ?? {};
    const extra: Json = {};
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
writeLines("feature-gates.json", read(`${values.facts}/feature-gates-1.37.json`));
const flagSections: Json = read(`${values.facts}/flags-1.37.json`)["kube-apiserver"];
writeLines("apiserver-flags.json", Object.assign({}, ...Object.values(flagSections)));
writeLines("columns.json", columns.columns);
writeLines("group-order.json", {
  groups: discovery.legacyGroupOrder,
  versions: Object.fromEntries(discovery.groups.map((group: Json) => [group.group, group.versions.map((version: Json) => version.version)])),
});
const health = read(`${values.golden}/health-checks.json`)["kube-apiserver"];
writeLines("health-checks.json", Object.fromEntries(["healthz", "livez", "readyz"].map((name) => [name, health[name].checks])));
writeLines("bootstrap-rbac.json", read(`${values.golden}/bootstrap-rbac.json`));
writeLines("bootstrap-objects.json", read(`${values.golden}/bootstrap-objects.json`));
writeLines("bootstrap-flowcontrol.json", read(`${values.golden}/bootstrap-flowcontrol.json`));
const servedOnRequest: Json = {};
for (const [path, methods] of Object.entries<Json>(openapi.paths)) {
  if (methods.default === true) continue;
  servedOnRequest[path] = Object.fromEntries(Object.entries<Json>(methods).filter(([, m]) => m?.gvk !== undefined).map(([verb, m]) => [verb, [m.action, m.gvk.group, m.gvk.version, m.gvk.kind]]));
}
writeLines("paths-on-request.json", servedOnRequest);

// TypeScript interfaces of the served versions, one file per group-version folder.
const folders = new Map<string, string>();
function folderOf(typeName: string): string | undefined {
  const meta = /^apimachinery\.pkg\.apis\.(meta)\.(v1)\.\w+$/.exec(typeName);
  const match = meta ?? /^(?:api|apiextensions-apiserver\.pkg\.apis|kube-aggregator\.pkg\.apis)\.(\w+)\.(v\d+)\.\w+$/.exec(typeName);
  return match === null ? undefined : `${match[1]}-${match[2]}`;
}
const special: Record<string, string> = {
  Time: "string", MicroTime: "string", Duration: "string", Quantity: "string | number", IntOrString: "number | string", RawExtension: "JsonObject", FieldsV1: "JsonObject",
  JSON: "JsonValue", JSONSchemaPropsOrArray: "JsonValue", JSONSchemaPropsOrBool: "JsonValue", JSONSchemaPropsOrStringArray: "JsonValue",
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
const served = new Set<string>(discovery.groups.flatMap((group: Json) => group.versions.map((version: Json) => `${group.group === "" ? "core" : group.group.split(".")[0]}-${version.version}`)));
for (const name of ["meta-v1", "rbac-v1", "autoscaling-v1", "flowcontrol-v1", "admission-v1", "storagemigration-v1"]) served.add(name);
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
  writeFileSync(`src/api/${folder}/types.ts`, `// Generated by tools/generate-schema.ts from the facts; do not edit.\n${head}\n${text.replace(/^\/\/use .+\n/gm, "")}`);
}
