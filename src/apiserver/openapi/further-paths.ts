/** Paths that belong to no resource: discovery, version, the issuer of tokens. */
import { groupWord, tagOf, textType } from "./operations.ts";
import type { ApiOperation, PathItem } from "./operations.ts";

/** What `/openapi/v3/PATH` holds beside resources; keys are document paths. */
export function discoveryPath(document: string): PathItem | undefined {
  const fixed = fixedPaths[document];
  if (fixed !== undefined) return fixed;
  const [root, group = "", version = ""] = document.split("/");
  if (root === "api") return discovery("/api/v1/", { group: "", version: "v1" }, `get${groupWord("")}V1APIResources`);
  if (version === "") return discovery(`/apis/${group}/`, { group, version }, `get${groupWord(group)}APIGroup`);
  return discovery(`/apis/${group}/${version}/`, { group, version }, `get${groupWord(group)}${version.charAt(0).toUpperCase()}${version.slice(1)}APIResources`);
}

const objectTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const unauthorized = { code: "401", description: "Unauthorized" };

function discovery(path: string, of: { readonly group: string; readonly version: string }, operationId: string): PathItem {
  const isGroup = of.version === "";
  return read(path, {
    tag: tagOf(of),
    description: isGroup ? "get information of a group" : "get available resources",
    operationId,
    type: `${meta}${isGroup ? "APIGroup" : "APIResourceList"}`,
  });
}

interface ReadPath {
  readonly tag: string;
  readonly description: string;
  readonly operationId: string;
  readonly type: string;
  readonly produces?: readonly string[];
}

function read(path: string, { tag, description, operationId, type, produces = objectTypes }: ReadPath): PathItem {
  const operation: ApiOperation = {
    method: "get",
    tag,
    description,
    operationId,
    parameters: [],
    responses: [{ code: "200", description: "OK", type }, unauthorized],
    produces,
    consumes: produces,
  };
  return { path, operations: [operation] };
}

const fixedPaths: Readonly<Record<string, PathItem>> = {
  ".well-known/openid-configuration": read("/.well-known/openid-configuration/", {
    tag: "WellKnown",
    description: "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
    operationId: "getServiceAccountIssuerOpenIDConfiguration",
    type: textType,
    produces: ["application/json"],
  }),
  api: read("/api/", { tag: "core", description: "get available API versions", operationId: "getCoreAPIVersions", type: `${meta}APIVersions` }),
  apis: read("/apis/", { tag: "apis", description: "get available API versions", operationId: "getAPIVersions", type: `${meta}APIGroupList` }),
  "openid/v1/jwks": read("/openid/v1/jwks/", {
    tag: "openid",
    description: "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
    operationId: "getServiceAccountIssuerOpenIDKeyset",
    type: textType,
    produces: ["application/jwk-set+json"],
  }),
  version: read("/version/", {
    tag: "version",
    description: "get the version information for this server",
    operationId: "getCodeVersion",
    type: "io.k8s.apimachinery.pkg.version.Info",
    produces: ["application/json"],
  }),
};
