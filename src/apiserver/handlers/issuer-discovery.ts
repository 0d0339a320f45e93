/** OpenID discovery of the service account issuer (documentation page "Service account issuer discovery"). */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import type { RequestContext } from "../request-context.ts";
import { notAcceptable } from "../http/negotiation.ts";

export function handleIssuer(context: RequestContext): ApiResponse | undefined {
  const { tokens, settings } = context.server;
  switch (context.info.path) {
    case "/.well-known/openid-configuration":
      return bytesResponse(
        200,
        "application/json",
        JSON.stringify({
          issuer: tokens.issuer,
          jwks_uri: `https://${settings.advertiseAddress}:${settings.securePort}/openid/v1/jwks`,
          response_types_supported: ["id_token"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
        }),
        { "cache-control": "public, max-age=3600" },
      );
    case "/openid/v1/jwks": {
      const type = "application/jwk-set+json";
      const accept = context.request.headers["accept"] ?? "*/*";
      if (!accept.split(",").some((clause) => ["*/*", type].includes(clause.split(";")[0]!.trim()))) throw notAcceptable([type]);
      return bytesResponse(200, type, JSON.stringify(tokens.jwks()), { "cache-control": "public, max-age=3600" });
    }
    default:
      return undefined;
  }
}
