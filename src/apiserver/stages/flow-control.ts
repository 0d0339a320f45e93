/** Lets requests in, makes them wait or refuses them (KEP-1040). Connections that last are not counted; a watch is, until it has begun. */
import type { ApiResponse } from "../../apimachinery/request.ts";
import { timed } from "../audit/latencies.ts";
import type { FlowControl, Visit } from "../flowcontrol/flow-control.ts";
import { kindOf } from "../flowcontrol/in-flight.ts";
import { isLongRunning } from "../http/long-running.ts";
import { plainText } from "../http/write-response.ts";
import type { NextStage, RequestContext, Stage } from "../request-context.ts";

export const flowControl: Stage = {
  name: "flow-control",
  run(context, next) {
    const isWatch = context.info.verb === "watch";
    const { flowControl: control } = context.server;
    if (!isWatch && isLongRunning(context)) return next();
    if (control !== undefined) return fairly(context, next, control);
    return isWatch ? next() : limited(context, next);
  },
};

function fairly(context: RequestContext, next: NextStage, control: FlowControl): Promise<ApiResponse> {
  const visit = control.arrive(context);
  Object.assign(context.responseHeaders, visit.flow.headers);
  return visit.isWaiting ? waiting(context, next, visit) : seated(context, next, visit);
}

async function waiting(context: RequestContext, next: NextStage, visit: Visit): Promise<ApiResponse> {
  const { inFlight } = context.server;
  const kind = kindOf(context.info);
  inFlight.beginWaiting(kind);
  await timed(context, "apf-queue-wait", () => visit.turn(longestWaitMs(context), context.signal));
  inFlight.endWaiting(kind);
  return seated(context, next, visit);
}

function seated(context: RequestContext, next: NextStage, visit: Visit): Promise<ApiResponse> {
  if (visit.refusal !== undefined) return Promise.resolve(refused(context, visit.refusal.retryAfterSeconds));
  const { inFlight } = context.server;
  const kind = kindOf(context.info);
  inFlight.begin(kind);
  const finish = onlyOnce(() => {
    visit.finish();
    inFlight.end(kind);
  });
  return context.info.verb === "watch" ? watching(context, next, finish) : answering(context, next, finish);
}

/** Without fairness: so many reads and so many writes at a time. */
async function limited(context: RequestContext, next: NextStage): Promise<ApiResponse> {
  const { inFlight } = context.server;
  const kind = kindOf(context.info);
  const retryAfterSeconds = inFlight.refuse(kind, context.user);
  if (retryAfterSeconds !== undefined) return refused(context, retryAfterSeconds);
  inFlight.begin(kind);
  return answering(
    context,
    next,
    onlyOnce(() => inFlight.end(kind)),
  );
}

/** A long document holds its seat until it is sent or nobody reads it any more. */
async function answering({ request }: RequestContext, next: NextStage, finish: () => void): Promise<ApiResponse> {
  let isSending = false;
  try {
    const response = await next();
    if (response.body.kind !== "stream") return response;
    isSending = true;
    request.signal.addEventListener("abort", finish, { once: true });
    return { ...response, body: { ...response.body, chunks: followed(response.body.chunks, finish) } };
  } finally {
    if (!isSending) finish();
  }
}

async function* followed(chunks: AsyncIterable<Uint8Array>, finish: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } finally {
    finish();
  }
}

/** A watch gives its seat back when it has sent the state that it begins with. */
async function watching(context: RequestContext, next: NextStage, finish: () => void): Promise<ApiResponse> {
  let isBeginning = false;
  context.watchBegan = finish;
  try {
    const response = await next();
    // Whoever answers a watch himself takes this away.
    isBeginning = context.watchBegan === undefined;
    if (isBeginning) context.request.signal.addEventListener("abort", finish, { once: true });
    return response;
  } finally {
    if (!isBeginning) finish();
  }
}

/** A quarter of the time that the request has. */
function longestWaitMs({ limitMs, server }: RequestContext): number {
  return (limitMs ?? server.settings.requestTimeoutMs) / 4;
}

function refused(context: RequestContext, retryAfterSeconds: number): ApiResponse {
  context.server.requestMetrics.terminated(context, 429);
  const response = plainText(429, "Too many requests, please try again later.\n");
  return { ...response, headers: { ...response.headers, "retry-after": String(retryAfterSeconds) } };
}

function onlyOnce(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
