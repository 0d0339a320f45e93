/** Outermost stage: every answer carries an audit id, cache control and the warnings collected; failures become Status answers. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { StatusError } from "../../apimachinery/status.ts";
import { withPretty } from "../handlers/respond.ts";
import { negotiate, servedMediaTypes } from "../http/negotiation.ts";
import type { Negotiated } from "../http/negotiation.ts";
import { statusResponse, toStatus } from "../http/write-response.ts";
import type { RequestContext, Stage } from "../request-context.ts";

export const answerHead: Stage = {
  name: "answer-head",
  async run(context, next) {
    let response: ApiResponse;
    try {
      response = await next();
    } catch (error) {
      response = failure(context, error);
    }
    return {
      ...response,
      headers: {
        "audit-id": context.auditId,
        "cache-control": "no-cache, private",
        ...transportSecurity(context.server.settings.strictTransportSecurity),
        ...context.responseHeaders,
        ...(context.warnings.size > 0 && { warning: shortened(context.warnings).map(warningHeader) }),
        ...response.headers,
      },
    };
  },
};

function transportSecurity(directives: readonly string[]): Readonly<Record<string, string>> | undefined {
  return directives.length === 0 ? undefined : { "strict-transport-security": directives.join("; ") };
}

const maxCharacters = 4 * 1024;
const maxItemCharacters = 256;

/** All warnings as they are while they are short together; else each cut, and none once enough has been said. */
export function shortened(warnings: Iterable<string>): string[] {
  const shown: string[] = [];
  let total = 0;
  let isCutting = false;
  for (const text of warnings) {
    const characters = [...text];
    if (isCutting && total >= maxCharacters) break;
    if (!isCutting && total + characters.length > maxCharacters) {
      // From here on everything is cut, what was to be shown already included.
      isCutting = true;
      for (const [index, earlier] of shown.entries()) shown[index] = cut([...earlier]);
      total = shown.reduce((sum, earlier) => sum + [...earlier].length, 0);
    }
    const item = isCutting ? cut(characters) : text;
    shown.push(item);
    total += [...item].length;
  }
  return shown;
}

const cut = (characters: readonly string[]) => characters.slice(0, maxItemCharacters).join("");

/** `299 - "text"`, with what HTTP cannot carry left out. */
function warningHeader(text: string): string {
  const printable = text.replace(/[^\x20-\x7e\u00a0-\u{10ffff}]/gu, "");
  const quoted = printable.replace(/["\\]/g, (character) => `\\${character}`);
  return `299 - "${Buffer.from(quoted).toString("latin1")}"`;
}

function failure(context: RequestContext, error: unknown): ApiResponse {
  const status = toStatus(error);
  if (!(error instanceof StatusError))
    context.server.log.error("Request failed", {
      path: context.request.path,
      method: context.request.method,
      error,
      stack: error instanceof Error ? error.stack : undefined,
    });
  const isForbidden = status.reason === "Forbidden" && context.responseHeaders["x-coracle-refused"] !== undefined;
  delete context.responseHeaders["x-coracle-refused"];
  return statusResponse(status, errorForm(context), isForbidden ? { "x-content-type-options": "nosniff" } : {});
}

/** Errors follow the Accept header as far as it can be followed. */
function errorForm(context: RequestContext): Negotiated | undefined {
  try {
    return withPretty(context, negotiate(context.request.headers["accept"], { transforms: [], mediaTypes: servedMediaTypes(context.server) }));
  } catch {
    // Nothing acceptable: JSON it is.
    return undefined;
  }
}
