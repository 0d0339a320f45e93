/** Bounds the time of requests that are not long-running (watch, logs, exec, attach, port-forward, proxy). */
import { goQuote } from "../../apimachinery/go/go-quote.ts";
import { StatusError, badRequestError, timeoutError } from "../../apimachinery/status.ts";
import type { ApiResponse } from "../../apimachinery/request.ts";
import { plainText } from "../http/write-response.ts";
import { isLongRunning } from "../http/long-running.ts";
import type { RequestContext, Stage } from "../request-context.ts";

export const deadline: Stage = {
  name: "deadline",
  async run(context, next) {
    if (isLongRunning(context)) return next();
    context.limitMs = timeoutMs(context);
    if (context.limitMs < shortestMs) return timedOut();
    try {
      return await next();
    } catch (error) {
      const isOurs = !(error instanceof StatusError) && context.signal.aborted && !context.request.signal.aborted;
      if (isOurs) return timedOut();
      throw error;
    }
  },
};

/** A time that is over before a request can have begun. */
const shortestMs = 0.1;

/** The Status comes as text: so upstream writes it where no handler is left to ask what the client takes. */
function timedOut(): ApiResponse {
  const { reason, message, code } = timeoutError("request did not complete within the allotted timeout", 0).status;
  return plainText(504, `${JSON.stringify({ metadata: {}, status: "Failure", message, reason, details: {}, code })}\n`);
}

/** `?timeout=` as a Go duration, at most the server's own limit. */
function timeoutMs(context: RequestContext): number {
  const text = context.query.get("timeout") ?? "";
  const limit = context.server.settings.requestTimeoutMs;
  if (text === "") return limit;
  const asked = parseGoDuration(text);
  if (asked === undefined) throw badRequestError(`invalid timeout specified in the request URL - time: ${durationFault(text)}`);
  return asked <= 0 ? limit : Math.min(asked, limit);
}

const unitsMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `1m30s`, or undefined. */
function parseGoDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!/^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) total += Number(amount) * unitsMs[unit!]!;
  return text.startsWith("-") ? -total : total;
}

/** What Go's parser says of a duration that is none. */
function durationFault(text: string): string {
  const rest = text.replace(/^[+-]/, "").replace(/^(\d+(\.\d*)?(ns|us|µs|ms|s|m|h)(?=\d|$))+/, "");
  const [, number = "", unit = ""] = /^(\d*\.?\d*)([^\d.]*)/.exec(rest) ?? [];
  if (!/\d/.test(number)) return `invalid duration ${goQuote(text)}`;
  return unit === "" ? `missing unit in duration ${goQuote(text)}` : `unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`;
}
