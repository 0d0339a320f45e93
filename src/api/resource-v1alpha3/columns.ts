/** Rows of requests for the state of device pools. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { PoolStatus, ResourcePoolStatusRequest } from "./types.ts";

export const resourcePoolStatusRequestColumns: TablePrinter<ResourcePoolStatusRequest> = {
  cells(request) {
    const { pools, poolCount = 0, conditions } = request.status ?? {};
    const done = conditions?.find(({ type, status }) => (type === "Complete" || type === "Failed") && status === "True");
    const total = (count: (pool: DeepReadonly<PoolStatus>) => number | undefined) =>
      pools === undefined ? "-" : String(pools.reduce((sum, pool) => sum + (count(pool) ?? 0), 0));
    return [
      nameOf(request),
      request.spec?.driver ?? "",
      total(({ totalDevices }) => totalDevices),
      total(({ availableDevices }) => availableDevices),
      total(({ allocatedDevices }) => allocatedDevices),
      total(({ unavailableDevices }) => unavailableDevices),
      total(({ validationError }) => (validationError === undefined ? 0 : 1)),
      poolCount,
      done?.type ?? "Pending",
      done?.lastTransitionTime ?? "<none>",
    ];
  },
};
