/** The operations of the API, as both OpenAPI documents print them: derived from the table of resources. */
import { typeRegistry } from "../../api/registry.ts";
import type { ResourceDefinition, SubresourceDefinition } from "../registry/resource-definition.ts";
import { customTypeName } from "./custom-definitions.ts";
import type { Descriptions } from "./descriptions.ts";
import { connectionParameters, nameParameter, namespaceParameter, parametersOf, pathParameter } from "./parameters.ts";
import type { Parameter } from "./parameters.ts";

export interface PathItem {
  readonly path: string;
  readonly operations: readonly ApiOperation[];
}

export interface ApiOperation {
  readonly method: "get" | "put" | "post" | "delete" | "options" | "head" | "patch";
  readonly tag: string;
  readonly description: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly type: string; readonly isRequired: boolean; readonly consumes: readonly string[] };
  readonly responses: readonly { readonly code: string; readonly description: string; readonly type?: string }[];
  readonly produces: readonly string[];
  /** In v2 what a request without a body consumes. */
  readonly consumes: readonly string[];
  readonly action?: string;
  readonly gvk?: { readonly group: string; readonly version: string; readonly kind: string };
}

/** Type names that are no references: a text answer. */
export const textType = "string";

/** Paths of resources of one group and version, by their names. */
export function resourcePaths(definitions: readonly ResourceDefinition[], descriptions: Descriptions): PathItem[] {
  return definitions.flatMap((definition) => new ResourcePaths(definition, descriptions).all()).sort((a, b) => (a.path < b.path ? -1 : 1));
}

const objectTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const customTypes = ["application/json", "application/yaml"];
const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"];
const customPatchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const unauthorized = { code: "401", description: "Unauthorized" };
const connectMethods = [
  ["get", "get"],
  ["put", "update"],
  ["post", "create"],
  ["delete", "delete"],
  ["options", "get"],
  ["head", "get"],
  ["patch", "patch"],
] as const;

class ResourcePaths {
  readonly #definition: ResourceDefinition;
  readonly #descriptions: Descriptions;
  readonly #root: string;
  readonly #isInNamespace: boolean;

  constructor(definition: ResourceDefinition, descriptions: Descriptions) {
    const { group, version } = definition;
    this.#definition = definition;
    this.#descriptions = descriptions;
    this.#root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    this.#isInNamespace = definition.isNamespaced;
  }

  all(): PathItem[] {
    const { resource, verbs, isNamespaced, isCustom, subresources } = this.#definition;
    const scoped = isNamespaced ? `/namespaces/{namespace}/${resource}` : `/${resource}`;
    const collection = this.#operations(
      [
        ["get", "list"],
        ["post", "create", "post"],
        ["delete", "deletecollection"],
      ],
      [],
    );
    const object = this.#operations(
      [
        ["get", "get"],
        ["put", "update", "put"],
        ["delete", "delete"],
        ["patch", "patch"],
      ],
      [this.#name()],
    );
    const isWatched = verbs.has("watch") && !isCustom;
    return [
      item(`${this.#root}${scoped}`, collection),
      item(`${this.#root}${scoped}/{name}`, object),
      ...(isNamespaced && verbs.has("list") ? [item(`${this.#root}/${resource}`, [this.#operation("get", "list", { suffix: "ForAllNamespaces" })])] : []),
      ...[...subresources.values()].flatMap((subresource) => this.#subresource(`${this.#root}${scoped}/{name}/${subresource.name}`, subresource)),
      ...(isWatched ? this.#watches(scoped) : []),
    ].filter(({ operations }) => operations.length > 0);
  }

  #watches(scoped: string): PathItem[] {
    const { resource, isNamespaced } = this.#definition;
    return [
      item(`${this.#root}/watch${scoped}`, [this.#operation("get", "watchlist", { suffix: "List" })]),
      item(`${this.#root}/watch${scoped}/{name}`, [this.#operation("get", "watch", { path: [this.#name()] })]),
      ...(isNamespaced ? [item(`${this.#root}/watch/${resource}`, [this.#operation("get", "watchlist", { suffix: "ListForAllNamespaces" })])] : []),
    ];
  }

  /** Of `[method, verb, action]`, those whose verb the resource has. */
  #operations(rows: readonly (readonly [ApiOperation["method"], string, string?])[], path: readonly Parameter[]): ApiOperation[] {
    return rows.filter(([, verb]) => this.#definition.verbs.has(verb)).map(([method, verb, action = verb]) => this.#operation(method, action, { path }));
  }

  #subresource(path: string, subresource: SubresourceDefinition): PathItem[] {
    const connection = connectionParameters(this.#definition.resource, subresource.name, this.#descriptions);
    if (connection === undefined) {
      const rows = [
        ["get", "get", "get"],
        ["put", "update", "put"],
        ["post", "create", "post"],
        ["patch", "patch", "patch"],
      ] as const;
      return [
        item(
          path,
          rows
            .filter(([, verb]) => subresource.verbs.has(verb))
            .map(([method, , action]) => this.#operation(method, action, { path: [this.#name()], subresource })),
        ),
      ];
    }
    if (subresource.name === "log")
      return [
        item(path, [
          {
            ...this.#operation("get", "get", { path: [this.#name()], subresource, query: connection }),
            produces: ["text/plain", ...objectTypes],
            responses: [{ code: "200", description: "OK", type: textType }, unauthorized],
          },
        ]),
      ];
    const isProxy = subresource.name === "proxy";
    const methods = connectMethods.filter(([method, verb]) => subresource.verbs.has(verb) && (isProxy || method === "get" || method === "post"));
    const connect = (suffix: string, parameters: readonly Parameter[]) =>
      methods.map(([method]) => this.#connect(method, subresource, { suffix, parameters: [...parameters, ...connection] }));
    return [item(path, connect("", [this.#name()])), ...(isProxy ? [item(`${path}/{path}`, connect("WithPath", [this.#name(), pathParameter()]))] : [])];
  }

  #connect(
    method: ApiOperation["method"],
    subresource: SubresourceDefinition,
    { suffix, parameters }: { suffix: string; parameters: readonly Parameter[] },
  ): ApiOperation {
    const { kind } = this.#definition;
    return {
      method,
      tag: tagOf(this.#definition),
      description: `connect ${method.toUpperCase()} requests to ${subresource.name} of ${kind}`,
      operationId: `connect${this.#prefix()}${capitalize(method)}${this.#scope()}${kind}${capitalize(subresource.name)}${suffix}`,
      parameters: this.#withNamespace(parameters),
      responses: [{ code: "200", description: "OK", type: textType }, unauthorized],
      produces: ["*/*"],
      consumes: ["*/*"],
      action: "connect",
      gvk: { group: subresource.group, version: subresource.version, kind: subresource.kind },
    };
  }

  #operation(method: ApiOperation["method"], action: string, options: OperationOptions): ApiOperation {
    const { kind, isCustom } = this.#definition;
    const { subresource, path = [], suffix = "" } = options;
    const isAllNamespaces = suffix.endsWith("ForAllNamespaces");
    const verb = operationVerbs[action]!;
    const scope = isAllNamespaces ? "" : this.#scope();
    const collection = action === "deletecollection" ? "Collection" : "";
    const query = options.query ?? parametersOf(action, isCustom, this.#descriptions);
    return {
      method,
      tag: tagOf(this.#definition),
      description: this.#describe(action, subresource?.name),
      operationId: `${verb}${this.#prefix()}${collection}${scope}${kind}${suffix}${capitalize(subresource?.name ?? "")}`,
      parameters: isAllNamespaces ? [...path, ...query] : this.#withNamespace([...path, ...query]),
      ...this.#body(action, subresource),
      responses: this.#responses(action, subresource),
      produces: this.#produces(action),
      consumes: ["*/*"],
      action,
      gvk: subresource === undefined || isCustom ? this.#gvk() : { group: subresource.group, version: subresource.version, kind: subresource.kind },
    };
  }

  #describe(action: string, subresource: string | undefined): string {
    const { kind, verbs, isCustom } = this.#definition;
    const of = subresource === undefined ? "" : `${subresource} of `;
    switch (action) {
      case "list":
        return `list ${verbs.has("watch") && !isCustom ? "or watch " : ""}objects of kind ${kind}`;
      case "watch":
        return `watch changes to an object of kind ${kind}. deprecated: use the 'watch' parameter with a list operation instead, filtered to a single item with the 'fieldSelector' parameter.`;
      case "watchlist":
        return `watch individual changes to a list of ${kind}. deprecated: use the 'watch' parameter with a list operation instead.`;
      case "post":
        return `create ${of}${article(kind)} ${kind}`;
      case "delete":
        return `delete ${article(kind)} ${kind}`;
      case "deletecollection":
        return `delete collection of ${kind}`;
      case "put":
        return `replace ${of}the specified ${kind}`;
      case "patch":
        return `partially update ${of}the specified ${kind}`;
      default:
        return `read ${of}the specified ${kind}`;
    }
  }

  #body(action: string, subresource: SubresourceDefinition | undefined): Pick<ApiOperation, "body"> {
    const { isCustom } = this.#definition;
    switch (action) {
      case "post":
      case "put":
        return { body: { type: this.#type(subresource), isRequired: true, consumes: isCustom ? customTypes : ["*/*"] } };
      case "patch":
        return { body: { type: `${meta}Patch`, isRequired: true, consumes: isCustom ? customPatchTypes : patchTypes } };
      case "delete":
        return { body: { type: `${meta}DeleteOptions`, isRequired: false, consumes: isCustom ? customTypes : ["*/*"] } };
      case "deletecollection":
        return isCustom ? {} : { body: { type: `${meta}DeleteOptions`, isRequired: false, consumes: ["*/*"] } };
      default:
        return {};
    }
  }

  #responses(action: string, subresource: SubresourceDefinition | undefined): ApiOperation["responses"] {
    const type = this.#answerType(action, subresource);
    const codes = action === "patch" && this.#definition.isCustom ? ["200"] : (answerCodes[action] ?? ["200"]);
    return [...codes.map((code) => ({ code, description: codeTexts[code]!, type })), unauthorized];
  }

  #answerType(action: string, subresource: SubresourceDefinition | undefined): string {
    const { strategy } = this.#definition;
    switch (action) {
      case "list":
        return this.#listType();
      case "watch":
      case "watchlist":
        return `${meta}WatchEvent`;
      case "deletecollection":
        return `${meta}Status`;
      case "delete":
        return strategy?.delete?.answer === "object" ? this.#type(undefined) : `${meta}Status`;
      default:
        return this.#type(subresource);
    }
  }

  #produces(action: string): string[] {
    if (this.#definition.isCustom) return customTypes;
    const streams = ["list", "watch", "watchlist"].includes(action) && this.#definition.verbs.has("watch");
    return streams ? [...objectTypes, "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"] : objectTypes;
  }

  #type(subresource: SubresourceDefinition | undefined): string {
    const { isCustom } = this.#definition;
    if (isCustom && subresource?.kind !== "Scale") return customTypeName(this.#gvk());
    return `io.k8s.${typeRegistry.kind(...gvkOf(subresource ?? this.#definition))!.name}`;
  }

  #listType(): string {
    const { group, version, listKind, isCustom } = this.#definition;
    if (isCustom) return customTypeName({ group, version, kind: listKind });
    return `io.k8s.${typeRegistry.kind(group, version, listKind)!.name}`;
  }

  #gvk(): { group: string; version: string; kind: string } {
    const { group, version, kind } = this.#definition;
    return { group, version, kind };
  }

  #scope(): string {
    return this.#isInNamespace ? "Namespaced" : "";
  }

  #prefix(): string {
    return `${groupWord(this.#definition.group)}${capitalize(this.#definition.version)}`;
  }

  #name(): Parameter {
    return nameParameter(this.#definition.kind);
  }

  #withNamespace(parameters: readonly Parameter[]): Parameter[] {
    return this.#isInNamespace ? [...parameters, namespaceParameter(this.#descriptions)] : [...parameters];
  }
}

interface OperationOptions {
  readonly path?: readonly Parameter[];
  readonly query?: readonly Parameter[];
  readonly suffix?: string;
  readonly subresource?: SubresourceDefinition;
}

const operationVerbs: Readonly<Record<string, string>> = {
  list: "list",
  get: "read",
  post: "create",
  put: "replace",
  patch: "patch",
  delete: "delete",
  deletecollection: "delete",
  watch: "watch",
  watchlist: "watch",
};
const answerCodes: Readonly<Record<string, readonly string[]>> = {
  post: ["200", "201", "202"],
  put: ["200", "201"],
  patch: ["200", "201"],
  delete: ["200", "202"],
};
const codeTexts: Readonly<Record<string, string>> = { "200": "OK", "201": "Created", "202": "Accepted" };

/** `rbac.authorization.k8s.io` → `RbacAuthorization`; the core group is `Core`. */
export function groupWord(group: string): string {
  if (group === "") return "Core";
  return group
    .replace(/\.k8s\.io$/, "")
    .split(/[^A-Za-z0-9]+/)
    .map(capitalize)
    .join("");
}

/** `rbacAuthorization_v1`. */
export function tagOf({ group, version }: { readonly group: string; readonly version: string }): string {
  const word = groupWord(group);
  return `${word.charAt(0).toLowerCase()}${word.slice(1)}${version === "" ? "" : `_${version}`}`;
}

function item(path: string, operations: readonly ApiOperation[]): PathItem {
  return { path, operations };
}

function gvkOf({ group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string }): [string, string, string] {
  return [group, version, kind];
}

function article(kind: string): string {
  return /^[AEIOU]/.test(kind) ? "an" : "a";
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
