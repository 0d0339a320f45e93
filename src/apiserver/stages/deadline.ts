/** Bounds the time of requests that are not long-running (watch, logs, exec, attach, port-forward, proxy). */
import { deadline as makeDeadline } from "../../base/clock.ts";
import { goQuote } from "../../apimachinery/go-quote.ts";
import { StatusError, badRequestError, timeoutError } from "../../apimachinery/status.ts";
import { isTrue } from "../http/request-info.ts";
import type { RequestContext, Stage } from "../request-context.ts";

const longRunning = new Set(["exec", "attach", "portforward", "proxy", "log"]);

export const deadline: Stage = {
  name: "deadline",
  async run(context, next) {
    if (isLongRunning(context)) return next();
    const limit = makeDeadline(context.server.clock, timeoutMs(context), context.signal);
    context.signal = limit.signal;
    try {
      return await next();
    } catch (error) {
      const isOurs = limit.signal.aborted && !context.request.signal.aborted && !(error instanceof StatusError);
      if (isOurs) throw timeoutError("request did not complete within the allotted timeout", 0);
      throw error;
    } finally {
      limit.cancel();
    }
  },
};

function isLongRunning({ info, query }: RequestContext): boolean {
  return info.verb === "watch" || longRunning.has(info.subresource) || isTrue(query.get("watch"));
}

/** `?timeout=` as a Go duration, at most the server's own limit. */
function timeoutMs(context: RequestContext): number {
  const text = context.query.get("timeout") ?? "";
  const limit = context.server.settings.requestTimeoutMs;
  if (text === "") return limit;
  const asked = parseGoDuration(text);
  if (asked === undefined) throw badRequestError(`invalid timeout specified in the request URL - time: ${/^\d+$/.test(text) ? "missing unit in" : "invalid"} duration ${goQuote(text)}`);
  return asked === 0 ? limit : Math.min(asked, limit);
}

const unitsMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, "µs": 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `1m30s`, or undefined. */
function parseGoDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^\+?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) total += Number(amount) * unitsMs[unit!]!;
  return total;
}
