/** Names the flow schema and priority level of each request (documentation page "API Priority and Fairness"). */
import type { FlowSchema } from "../../api/flowcontrol-v1/types.ts";
import { schemaMatches } from "../flowcontrol/matching.ts";
import { findObject, findObjects } from "../registry/rule-context.ts";
import type { Stage } from "../request-context.ts";

const schemas = "flowcontrol.apiserver.k8s.io/flowschemas";
const levels = "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations";

export const flowControl: Stage = {
  name: "flow-control",
  async run(context, next) {
    const inOrder = (findObjects(context.server, schemas, "") as unknown as FlowSchema[]).sort(byPrecedence);
    const schema = inOrder.find((candidate) => schemaMatches(candidate, context.user, context.info));
    if (schema !== undefined) {
      const level = findObject(context.server, levels, "", schema.spec!.priorityLevelConfiguration!.name!);
      context.responseHeaders["x-kubernetes-pf-flowschema-uid"] = schema.metadata.uid!;
      if (level !== undefined) context.responseHeaders["x-kubernetes-pf-prioritylevel-uid"] = level.metadata.uid!;
    }
    return next();
  },
};

function byPrecedence(a: FlowSchema, b: FlowSchema): number {
  return (a.spec!.matchingPrecedence ?? 0) - (b.spec!.matchingPrecedence ?? 0) || (a.metadata.name! < b.metadata.name! ? -1 : 1);
}
