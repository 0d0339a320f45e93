/** Rows of evictions and of requests for them. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, nameOf, orNone, since } from "../cells.ts";
import type { Condition } from "../meta-v1/types.ts";
import type { TablePrinter } from "../table.ts";
import type { Eviction, EvictionRequest } from "./types.ts";

const unset = "<unset>";

export const evictionRequestColumns: TablePrinter<EvictionRequest> = {
  cells(request, context) {
    const { target, requester = "", intent = "" } = request.spec ?? {};
    return [nameOf(request), ...targetCells(target), stateOf(request.status?.conditions), requester, intent, age(request, context)];
  },
};

export const evictionColumns: TablePrinter<Eviction> = {
  cells(eviction, context) {
    const { conditions, targetResponders = [], responders = [], requesters = [] } = eviction.status ?? {};
    const active = targetResponders.findIndex(({ state }) => state === "Active");
    const responder = responders.find(({ name }) => name === targetResponders[active]?.name);
    return [
      nameOf(eviction),
      ...targetCells(eviction.spec?.target),
      stateOf(conditions),
      `${targetResponders[active]?.name ?? unset} (${active + 1}/${targetResponders.length})`,
      responder === undefined ? unset : responder.completionTime !== undefined ? "Completed" : responder.startTime !== undefined ? "Started" : "Pending",
      since(responder?.expectedCompletionTime, context),
      orNone(requesters.map(({ name }) => name).join(",")),
      age(eviction, context),
      responder?.heartbeatTime === undefined ? unset : since(responder.heartbeatTime, context),
      responder?.message ?? unset,
    ];
  },
};

function targetCells(target: DeepReadonly<{ pod?: { name?: string } }> | undefined): [name: string, type: string] {
  return target?.pod === undefined ? [unset, unset] : [target.pod.name ?? "", "Pod"];
}

function stateOf(conditions: DeepReadonly<Condition[]> | undefined): string {
  return ["Failed", "TargetEvicted"].find((type) => conditions?.some((condition) => condition.type === type && condition.status === "True")) ?? "Pending";
}
