// Descriptions of API types, fields and parameters, read from the installed package @kubernetes/client-node, for OpenAPI documents and tables.
//
// `writeDescriptions()` makes src/apiserver/openapi/descriptions.json (ignored by git): `{source, types: {TYPE: {"": text, FIELD: text…}}, parameters: {NAME: text}}`,
// types under their OpenAPI names without `io.k8s.`. The build calls it; without the package the file stays away and descriptions are empty.
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const packageFolder = path.join(root, "node_modules", "@kubernetes", "client-node");
export const descriptionsFile = path.join(root, "src", "apiserver", "openapi", "descriptions.json");

interface DescriptionsJson {
  source: string;
  types: Record<string, Record<string, string>>;
  parameters: Record<string, string>;
}

/** Writes the file unless it is there already for this version of the package; its time is `time`, so that it never looks newer than what is built from it. */
export function writeDescriptions(time: Date): void {
  const manifest = path.join(packageFolder, "package.json");
  if (!existsSync(manifest)) {
    if (!existsSync(descriptionsFile)) writeFileSync(descriptionsFile, '{"source":"","types":{},"parameters":{}}\n');
  } else {
    const { name, version } = JSON.parse(readFileSync(manifest, "utf8")) as { name: string; version: string };
    const source = `${name} ${version}`;
    if (isCurrent(source)) return;
    writeFileSync(descriptionsFile, `${JSON.stringify(readDescriptions(source))}\n`);
  }
  utimesSync(descriptionsFile, time, time);
}

/** Made from this version of the package, by this version of the script. */
function isCurrent(source: string): boolean {
  if (!existsSync(descriptionsFile) || statSync(descriptionsFile).mtimeMs < statSync(import.meta.filename).mtimeMs) return false;
  return (JSON.parse(readFileSync(descriptionsFile, "utf8")) as DescriptionsJson).source === source;
}

function readDescriptions(source: string): DescriptionsJson {
  const generated = path.join(packageFolder, "dist", "gen");
  const registry = JSON.parse(readFileSync(path.join(root, "src", "api", "data", "types.json"), "utf8")) as Record<string, unknown>;
  const types: DescriptionsJson["types"] = {};
  for (const type of [...Object.keys(registry), "apimachinery.pkg.version.Info"]) {
    const file = modelNames(type)
      .map((name) => path.join(generated, "models", `${name}.d.ts`))
      .find(existsSync);
    if (file !== undefined) types[type] = readModel(readFileSync(file, "utf8"), !wideTypes.has(type));
  }
  return { source, types, parameters: readParameters(readFileSync(path.join(generated, "types", "ObjectParamAPI.d.ts"), "utf8")) };
}

/** Types whose authors end a sentence with two blanks. */
const wideTypes = new Set(["api.core.v1.ServiceSpec"]);

/** `api.core.v1.Event` → `CoreV1Event`, `V1Event`: the group is there only where kinds share a name. Types newer than the package were in an earlier version before. */
function modelNames(type: string): string[] {
  const [group = "", version = "", name = ""] = type.split(".").slice(-3);
  return [version, "v1beta2", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"].flatMap((candidate) => [
    `${capitalize(group)}${capitalize(candidate)}${name}`,
    `${capitalize(candidate)}${name}`,
  ]);
}

function readModel(text: string, hasParagraphs: boolean): Record<string, string> {
  const found: Record<string, string> = {};
  const head = /\/\*\*\n\* (.*)\n\*\/\nexport declare class/.exec(text);
  if (head !== null) found[""] = plainText(head[1]!, hasParagraphs);
  for (const [, comment, name] of text.matchAll(/ {4}\/\*\*\n {4}\* (.*)\n {4}\*\/\n {4}'(\S+?)'\??:/g))
    found[fieldName(name!)] = plainText(comment!, hasParagraphs);
  return found;
}

/** Parameters have the same text wherever they stand, but for those of connections, which carry their kind. */
function readParameters(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, api, operation, body] of text.matchAll(/export interface (\w+?)Api(\w+)Request \{\n([\s\S]*?)\n\}/g)) {
    if (api === "CustomObjects") continue;
    for (const [, comment, name] of body!.matchAll(/ {4}\/\*\*\n {5}\* (.*)\n(?: {5}\*.*\n)*? {5}\*\/\n {4}(\w+)\??:/g)) {
      const connection = /^(?:ConnectGet|Read)(?:Namespaced)?((?:Pod|Service|Node)(?:Exec|Attach|Portforward|Proxy|Log))$/.exec(operation!);
      const key = fieldName(name!);
      const description = plainText(comment!);
      if (connection !== null) found[`${connection[1]}.${key}`] ??= description;
      else if (name !== "body" && !operation!.startsWith("Connect")) found[key] ??= description;
      if (operation!.startsWith("Patch") && key !== "name" && found[key] !== description) found[`Patch.${key}`] ??= description;
    }
  }
  return found;
}

/** Reserved words carry an underscore, `$` is left out. */
function fieldName(name: string): string {
  if (name === "$ref" || name === "$schema") return name;
  return name.replace(/^_/, "").replaceAll("_", "-");
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x60": "`", "#x3D": "=" };

/** Undoes the escapes of the generator, and its line feeds turned into blanks: two after the end of a sentence were a new paragraph, three and more an indented line. */
function plainText(comment: string, hasParagraphs = true): string {
  const text = comment
    .replace(/&(amp|lt|gt|quot|#39|#x60|#x3D);/g, (_, name: string) => entities[name]!)
    .replace(/\\(['"\\])/g, "$1")
    .replaceAll("*_/", "*/")
    .replaceAll(". - `", ".\n- `")
    .replace(/ {3,}(?=\S)/g, (blanks) => (blanks.length % 2 === 1 ? `\n${blanks.slice(1)}` : `\n\n${blanks.slice(2)}`))
    .replace(/(\n {2}- \S+) {2}(?=\S)/g, "$1\n\n");
  return hasParagraphs ? text.replace(/([.:)]) {2}(?=\S)/g, "$1\n\n") : text;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

if (import.meta.main) writeDescriptions(new Date());
