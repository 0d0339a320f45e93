/** Names the flow schema and priority level of each request (documentation page "API Priority and Fairness"). */
import type { Stage } from "../request-context.ts";

export const flowControl: Stage = {
  name: "flow-control",
  run(context, next) {
    Object.assign(context.responseHeaders, context.server.flowSchemas.headersFor(context.user, context.info));
    return next();
  },
};
