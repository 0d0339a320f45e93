/** Outermost stage: every answer carries an audit id, cache control and the warnings collected; failures become Status answers. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { StatusError } from "../../apimachinery/status.ts";
import { withPretty } from "../handlers/respond.ts";
import { negotiate } from "../http/negotiation.ts";
import type { Negotiated } from "../http/negotiation.ts";
import { statusResponse, toStatus } from "../http/write-response.ts";
import type { RequestContext, Stage } from "../request-context.ts";

export const answerHead: Stage = {
  name: "answer-head",
  async run(context, next) {
    const response = await next().catch((error: unknown) => failure(context, error));
    return {
      ...response,
      headers: {
        "audit-id": context.auditId,
        "cache-control": "no-cache, private",
        ...context.responseHeaders,
        ...(context.warnings.size > 0 && { warning: [...context.warnings].map(warningHeader) }),
        ...response.headers,
      },
    };
  },
};

/** `299 - "text"`, with what HTTP cannot carry left out. */
function warningHeader(text: string): string {
  const printable = text.replace(/[^\x20-\x7e\u00a0-\u{10ffff}]/gu, "");
  const quoted = printable.replace(/["\\]/g, (character) => `\\${character}`);
  return `299 - "${Buffer.from(quoted).toString("latin1")}"`;
}

function failure(context: RequestContext, error: unknown): ApiResponse {
  const status = toStatus(error);
  if (!(error instanceof StatusError)) context.server.log.error("Request failed", { path: context.request.path, method: context.request.method, error, stack: error instanceof Error ? error.stack : undefined });
  const isForbidden = status.reason === "Forbidden" && context.responseHeaders["x-coracle-refused"] !== undefined;
  delete context.responseHeaders["x-coracle-refused"];
  return statusResponse(status, errorForm(context), isForbidden ? { "x-content-type-options": "nosniff" } : {});
}

/** Errors follow the Accept header as far as it can be followed. */
function errorForm(context: RequestContext): Negotiated | undefined {
  try {
    return withPretty(context, negotiate(context.request.headers["accept"], { transforms: [] }));
  } catch {
    // Nothing acceptable: JSON it is.
    return undefined;
  }
}
