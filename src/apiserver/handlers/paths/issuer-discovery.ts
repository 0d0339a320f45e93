/** OpenID discovery of the service account issuer (documentation page "Service account issuer discovery"). */
import type { ApiResponse } from "../../../apimachinery/request.ts";
import { bytesResponse } from "../../../apimachinery/request.ts";
import type { RequestContext } from "../../request-context.ts";
import { notAcceptable } from "../../http/negotiation.ts";
import { methodError, noResourceError } from "../dispatch.ts";

export function handleIssuer(context: RequestContext): ApiResponse | undefined {
  const document = Object.keys(documents).find((path) => context.info.path === path || context.info.path.startsWith(`${path}/`));
  if (document === undefined) return undefined;
  if (context.info.path.length > document.length + 1) throw noResourceError();
  if (context.request.method !== "GET") throw methodError();
  const { type, content } = documents[document]!;
  if (!accepts(context.request.headers["accept"], type)) throw notAcceptable([type]);
  return bytesResponse(200, type, JSON.stringify(content(context)), { "cache-control": "public, max-age=3600" });
}

interface IssuerDocument {
  readonly type: string;
  content(context: RequestContext): object;
}

const documents: Readonly<Record<string, IssuerDocument>> = {
  "/.well-known/openid-configuration": {
    type: "application/json",
    content: ({ server: { tokens, settings } }) => ({
      issuer: tokens.issuer,
      jwks_uri: `https://${settings.externalHostname || settings.advertiseAddress}:${settings.securePort}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: tokens.algorithms(),
    }),
  },
  "/openid/v1/jwks": { type: "application/jwk-set+json", content: ({ server }) => server.tokens.jwks() },
};

/** Whether an Accept header takes the document's one form. */
function accepts(header: string | undefined, type: string): boolean {
  const [group] = type.split("/");
  return (header ?? "*/*").split(",").some((clause) => ["*/*", `${group}/*`, type].includes(clause.split(";")[0]!.trim()));
}
