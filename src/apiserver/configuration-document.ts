/** Files of group apiserver.config.k8s.io: read as strictly as upstream reads them, with its texts. */
import { DecodeError, decodeBody, readBody, typeMetaOf, unrecognizedText } from "../apimachinery/decode/decode-object.ts";
import { goQuote } from "../apimachinery/go/go-quote.ts";
import { TypeRegistry } from "../apimachinery/schema.ts";

export interface ConfigurationType {
  readonly types: TypeRegistry;
  readonly kind: string;
  /** The `apiVersion`s, and kinds of old where they are taken, as `VERSION KIND`. */
  readonly known: ReadonlySet<string>;
}

/** The object that `bytes` hold, or what is wrong with them. */
export function decodeConfiguration(
  bytes: Uint8Array,
  { types, kind: wanted, known }: ConfigurationType,
): { readonly object: unknown } | { readonly fault: string } {
  try {
    const body = readBody(bytes, { mediaType: "yaml" });
    const { apiVersion, kind } = typeMetaOf(body);
    const shown = () => JSON.stringify(body.plain?.value ?? decodeBody(body, types.struct(wanted)!).object);
    if (kind === "") return { fault: `Object 'Kind' is missing in '${shown()}'` };
    if (apiVersion === "") return { fault: `Object 'apiVersion' is missing in '${shown()}'` };
    if (!known.has(`${apiVersion} ${kind}`))
      return { fault: `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"` };
    const { object, faults } = decodeBody(body, types.struct(wanted)!);
    return faults.length > 0 ? { fault: `strict decoding error: ${faults.join(", ")}` } : { object };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { fault: error.reason === "value" ? error.message : unrecognizedText(error) };
  }
}

/** Every served version of a kind. */
export function servedVersions(kind: string): ReadonlySet<string> {
  return new Set(["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version} ${kind}`));
}

const fields = (...named: [name: string, type: string][]) => ({ fields: named.map(([name, type]): [string, string, string, number] => [name, type, "e", 0]) });

const authentication = new TypeRegistry({
  AuthenticationConfiguration: fields(["kind", "string"], ["apiVersion", "string"], ["jwt", "[]JWTAuthenticator"], ["anonymous", "*AnonymousAuthConfig"]),
  AnonymousAuthConfig: fields(["enabled", "bool"], ["conditions", "[]AnonymousAuthCondition"]),
  AnonymousAuthCondition: fields(["path", "string"]),
  JWTAuthenticator: fields(
    ["issuer", "Issuer"],
    ["claimValidationRules", "[]ClaimValidationRule"],
    ["claimMappings", "ClaimMappings"],
    ["userValidationRules", "[]UserValidationRule"],
  ),
  Issuer: fields(
    ["url", "string"],
    ["discoveryURL", "string"],
    ["certificateAuthority", "string"],
    ["audiences", "[]string"],
    ["audienceMatchPolicy", "string"],
    ["egressSelectorType", "string"],
  ),
  ClaimValidationRule: fields(["claim", "string"], ["requiredValue", "string"], ["expression", "string"], ["message", "string"]),
  ClaimMappings: fields(
    ["username", "PrefixedClaimOrExpression"],
    ["groups", "PrefixedClaimOrExpression"],
    ["uid", "ClaimOrExpression"],
    ["extra", "[]ExtraMapping"],
  ),
  PrefixedClaimOrExpression: fields(["claim", "string"], ["prefix", "*string"], ["expression", "string"]),
  ClaimOrExpression: fields(["claim", "string"], ["expression", "string"]),
  ExtraMapping: fields(["key", "string"], ["valueExpression", "string"]),
  UserValidationRule: fields(["expression", "string"], ["message", "string"]),
});

const authorization = new TypeRegistry({
  AuthorizationConfiguration: fields(["kind", "string"], ["apiVersion", "string"], ["authorizers", "[]AuthorizerConfiguration"]),
  AuthorizerConfiguration: fields(["type", "string"], ["name", "string"], ["webhook", "*WebhookConfiguration"]),
  WebhookConfiguration: fields(
    ["authorizedTTL", "string"],
    ["cacheAuthorizedRequests", "*bool"],
    ["unauthorizedTTL", "string"],
    ["cacheUnauthorizedRequests", "*bool"],
    ["timeout", "string"],
    ["subjectAccessReviewVersion", "string"],
    ["matchConditionSubjectAccessReviewVersion", "string"],
    ["failurePolicy", "string"],
    ["connectionInfo", "WebhookConnectionInfo"],
    ["matchConditions", "[]WebhookMatchCondition"],
  ),
  WebhookConnectionInfo: fields(["type", "string"], ["kubeConfigFile", "*string"]),
  WebhookMatchCondition: fields(["expression", "string"]),
});

export const authenticationType: ConfigurationType = {
  types: authentication,
  kind: "AuthenticationConfiguration",
  known: servedVersions("AuthenticationConfiguration"),
};

export const authorizationType: ConfigurationType = {
  types: authorization,
  kind: "AuthorizationConfiguration",
  known: servedVersions("AuthorizationConfiguration"),
};
