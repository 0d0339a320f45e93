/**
 * OpenAPI documents of what is served: one of version 2 for everything, one of version 3 per group and version. Made when first asked for
 * in slices of the event loop, and kept until the table of resources changes. A document follows from what `#signature` names, so that its hash needs no document.
 */
import { createHash } from "node:crypto";
import types from "../../api/data/types.json" with { type: "json" };
import { isObject } from "../../apimachinery/json.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import type { Clock } from "../../base/clock.ts";
import { inSlices } from "../../base/pacer.ts";
import type { CompactType } from "../../apimachinery/schema.ts";
import { versionInfo } from "../handlers/paths/version.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ResourceTable } from "../registry/resource-table.ts";
import { partsSignature } from "../aggregation/publications.ts";
import type { Publications } from "../aggregation/publications.ts";
import { withParts } from "../aggregation/remote-openapi.ts";
import { customDefinitions } from "./custom-definitions.ts";
import type { Descriptions } from "./descriptions.ts";
import { documentV2 } from "./document-v2.ts";
import { documentV3 } from "./document-v3.ts";
import { encodeDocument } from "./protobuf/encode-document.ts";
import type { MessageTypes } from "./protobuf/encode-document.ts";
import { messagesV2 } from "./protobuf/messages-v2.ts";
import { messagesV3 } from "./protobuf/messages-v3.ts";
import { discoveryPath } from "./further-paths.ts";
import { resourcePaths } from "./operations.ts";
import type { PathItem } from "./operations.ts";
import { TypeDefinitions } from "./type-definitions.ts";
import type { Dialect } from "./type-definitions.ts";

/** A document as bytes: as objects it would take ten times the memory. */
export interface OpenApiDocument {
  readonly json: Uint8Array;
  /** Made when first asked for, and kept. */
  readonly protobuf: () => Promise<Uint8Array>;
}

export class OpenApiDocuments {
  readonly #table: ResourceTable;
  readonly #descriptions: Descriptions;
  readonly #hasEnums: boolean;
  /** Of extension API servers. */
  readonly #publications: Publications | undefined;
  readonly #definitions: TypeDefinitions;
  readonly #documents = new Map<string, Promise<OpenApiDocument>>();
  readonly #clock: Clock;
  readonly #hashes = new Map<string, string>();
  #base: string | undefined;

  constructor(
    table: ResourceTable,
    descriptions: Descriptions,
    options: { readonly clock: Clock; readonly hasEnums: boolean; readonly publications?: Publications },
  ) {
    this.#table = table;
    this.#descriptions = descriptions;
    this.#clock = options.clock;
    this.#hasEnums = options.hasEnums;
    this.#definitions = new TypeDefinitions({ types: compactTypes, descriptions, hasEnums: options.hasEnums });
    this.#publications = options.publications;
    table.onChange(() => this.#forget());
    options.publications?.onChange(() => this.#forget());
  }

  /** Paths of the version 3 documents below `/openapi/v3/`, sorted. */
  paths(): string[] {
    const paths = new Set([".well-known/openid-configuration", "api", "apis", "openid/v1/jwks", "version"]);
    for (const { group, version, isCustom } of this.#table) {
      if (group === "") paths.add(`api/${version}`);
      else paths.add(`apis/${group}/${version}`);
      if (group !== "" && !isCustom) paths.add(`apis/${group}`);
    }
    return [...paths].sort();
  }

  /** The version 3 document at a path, or undefined. */
  v3(path: string): Promise<OpenApiDocument> | undefined {
    if (!this.paths().includes(path)) return undefined;
    return this.#kept(`v3 ${path}`, messagesV3, () => this.#makeV3(path));
  }

  v2(): Promise<OpenApiDocument> {
    return this.#kept("v2", messagesV2, () => this.#makeV2());
  }

  /** A hash of what the document says: upper-case hexadecimal. `path` is empty for version 2. */
  hash(path: string): string {
    let hash = this.#hashes.get(path);
    if (hash === undefined) {
      hash = createHash("sha512").update(this.#signature(path)).digest("hex").toUpperCase();
      this.#hashes.set(path, hash);
    }
    return hash;
  }

  *#makeV3(path: string): Generator<void, JsonObject> {
    const definitions = this.#resourcesAt(path);
    const isCustom = definitions.some((definition) => definition.isCustom);
    const custom = this.#customTypes(definitions, "v3");
    return yield* documentV3({
      info: isCustom ? customInfo : info,
      paths: [...(isCustom ? [] : [discoveryPath(path)!]), ...(yield* pathSteps(definitions, this.#descriptions))],
      types: [...custom.keys()],
      definition: (name) => this.#definition(name, custom, "v3", isCustom),
      hasSecurity: !isCustom,
    });
  }

  *#makeV2(): Generator<void, JsonObject> {
    const definitions = [...this.#table];
    const custom = this.#customTypes(definitions, "v2");
    const paths: PathItem[] = this.paths().map((path) => discoveryPath(path)!);
    const own = yield* documentV2({
      info,
      paths: [...paths, ...(yield* pathSteps(definitions, this.#descriptions))].sort((a, b) => (a.path < b.path ? -1 : 1)),
      types: [...custom.keys()],
      definition: (name) => this.#definition(name, custom, "v2", false),
      hasSecurity: true,
    });
    const parts = this.#publications?.v2Parts() ?? [];
    return parts.length === 0 ? own : withParts(own, parts);
  }

  /** URLs of the version 3 documents of extension API servers, by path. */
  remoteUrls(): ReadonlyMap<string, string> {
    return this.#publications?.v3Urls() ?? new Map();
  }

  /** Custom resources' documents come from a server of their own, which knows fewer groups. */
  #definition(name: string, custom: ReadonlyMap<string, JsonObject>, dialect: Dialect, isCustom: boolean): JsonObject {
    const own = custom.get(name);
    if (own !== undefined) return own;
    const made = this.#definitions.definition(name.replace(/^io\.k8s\./, ""), dialect);
    const kinds = made[kindsExtension];
    if (!isCustom || !Array.isArray(kinds)) return made;
    return { ...made, [kindsExtension]: (kinds as { group: string }[]).filter(({ group }) => !unknownToCustomServer.has(group)) };
  }

  #customTypes(definitions: readonly ResourceDefinition[], dialect: Dialect): Map<string, JsonObject> {
    return new Map(
      definitions.filter(({ isCustom }) => isCustom).flatMap((definition) => Object.entries(customDefinitions(definition, this.#descriptions, dialect))),
    );
  }

  #resourcesAt(path: string): ResourceDefinition[] {
    const [root, group = "", version] = path.split("/");
    const [wantedGroup, wantedVersion] = root === "api" ? ["", group] : [group, version];
    if (wantedVersion === undefined || (root !== "api" && root !== "apis")) return [];
    return [...this.#table].filter((definition) => definition.group === wantedGroup && definition.version === wantedVersion);
  }

  #signature(path: string): string {
    this.#base ??= createHash("sha512")
      .update(JSON.stringify([types, versionInfo.gitVersion, this.#descriptions.source, this.#hasEnums]))
      .digest("hex");
    const definitions = path === "" ? [...this.#table] : this.#resourcesAt(path);
    return JSON.stringify([
      this.#base,
      path,
      ...(path === "" ? [partsSignature(this.#publications?.v2Parts() ?? [])] : []),
      definitions.map(({ group, version, resource, kind, isNamespaced, verbs, subresources, openApiSchema }) => [
        group,
        version,
        resource,
        kind,
        isNamespaced,
        [...verbs],
        [...subresources.keys()],
        openApiSchema,
      ]),
    ]);
  }

  #kept(key: string, messages: MessageTypes, make: () => Generator<void, JsonObject>): Promise<OpenApiDocument> {
    let document = this.#documents.get(key);
    if (document === undefined) {
      document = this.#make(messages, make());
      this.#documents.set(key, document);
    }
    return document;
  }

  async #make(messages: MessageTypes, steps: Generator<void, JsonObject>): Promise<OpenApiDocument> {
    const document = await inSlices(this.#clock, steps);
    const json = Buffer.concat(await inSlices(this.#clock, textSteps(document)));
    let protobuf: Promise<Uint8Array> | undefined;
    return { json, protobuf: () => (protobuf ??= inSlices(this.#clock, encodeDocument(JSON.parse(json.toString()) as JsonObject, messages))) };
  }

  #forget(): void {
    this.#documents.clear();
    this.#hashes.clear();
  }
}

/** Paths of resources, definition by definition. */
function* pathSteps(definitions: readonly ResourceDefinition[], descriptions: Descriptions): Generator<void, PathItem[]> {
  const paths: PathItem[] = [];
  for (const definition of definitions) {
    paths.push(...resourcePaths([definition], descriptions));
    yield;
  }
  return paths.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A document's JSON, in pieces of one path or definition. */
function* textSteps(document: JsonObject, isWhole = true): Generator<void, Buffer[]> {
  const pieces: Buffer[] = [];
  for (const [index, [name, value]] of Object.entries(document).entries()) {
    const opening = `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`;
    if (isWhole && isObject(value) && Object.keys(value).length > 0) pieces.push(Buffer.from(opening), ...(yield* textSteps(value, false)));
    else pieces.push(Buffer.from(opening + JSON.stringify(value)));
    yield;
  }
  pieces.push(Buffer.from(isWhole ? "}\n" : "}"));
  return pieces;
}

const compactTypes = types as unknown as Readonly<Record<string, CompactType>>;
const info = { title: "Kubernetes", version: `${versionInfo.major}.${versionInfo.minor}` };
const customInfo = { title: "Kubernetes CRD Swagger", version: "v0.1.0" };
const kindsExtension = "x-kubernetes-group-version-kind";
const unknownToCustomServer = new Set(["admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"]);
