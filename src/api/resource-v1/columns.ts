/** Rows of dynamic resource allocation. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, nameOf, since } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "./types.ts";

export const deviceClassColumns: TablePrinter<DeviceClass> = { cells: (deviceClass, context) => [nameOf(deviceClass), age(deviceClass, context)] };

export const deviceTaintRuleColumns: TablePrinter<DeviceTaintRule> = {
  cells(rule, context) {
    const taint = rule.spec?.taint;
    return [nameOf(rule), taint?.key ?? "", taint?.value ?? "", taint?.effect ?? "", since(taint?.timeAdded, context), age(rule, context)];
  },
};

export const resourceClaimColumns: TablePrinter<ResourceClaim> = {
  cells: (claim, context) => [nameOf(claim), claimState(claim), age(claim, context)],
};

export const resourceClaimTemplateColumns: TablePrinter<ResourceClaimTemplate> = { cells: (template, context) => [nameOf(template), age(template, context)] };

export const resourceSliceColumns: TablePrinter<ResourceSlice> = {
  cells: (slice, context) => [nameOf(slice), slice.spec?.nodeName ?? "", slice.spec?.driver ?? "", slice.spec?.pool?.name ?? "", age(slice, context)],
};

function claimState({ metadata, status }: DeepReadonly<ResourceClaim>): string {
  const states: string[] = [];
  if (metadata.deletionTimestamp !== undefined) states.push("deleted");
  if (status?.allocation !== undefined) states.push("allocated");
  if ((status?.reservedFor ?? []).length > 0) states.push("reserved");
  return states.length === 0 ? "pending" : states.join(",");
}
