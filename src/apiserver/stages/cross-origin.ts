/** Cross-origin requests (Fetch standard, "CORS protocol") from the origins that `--cors-allowed-origins` names. Preflights are answered here, before anybody is asked who they are. */
import { GoRegExp } from "../../apimachinery/go/go-regexp.ts";
import type { ServerState } from "../server-state.ts";
import type { Stage } from "../request-context.ts";

const answerHeaders = {
  "access-control-allow-methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
  "access-control-allow-headers": "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
  "access-control-expose-headers": "Date",
  "access-control-allow-credentials": "true",
};

export const crossOrigin: Stage = {
  name: "cross-origin",
  run(context, next) {
    const { origin } = context.request.headers;
    if (origin === undefined || !expressionsOf(context.server).some((expression) => expression.matches(origin))) return next();
    Object.assign(context.responseHeaders, { "access-control-allow-origin": origin, ...answerHeaders });
    if (context.request.method !== "OPTIONS") return next();
    return Promise.resolve({ status: 204, headers: {}, body: { kind: "bytes", bytes: new Uint8Array() } });
  },
};

const compiled = new WeakMap<ServerState, readonly GoRegExp[]>();

function expressionsOf(server: ServerState): readonly GoRegExp[] {
  let expressions = compiled.get(server);
  if (expressions === undefined) compiled.set(server, (expressions = server.settings.corsAllowedOrigins.map((text) => new GoRegExp(text))));
  return expressions;
}
