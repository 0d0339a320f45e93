/** Rows of API services. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { APIService } from "./types.ts";

export const apiServiceColumns: TablePrinter<APIService> = {
  cells(service, context) {
    const target = service.spec?.service;
    return [nameOf(service), target === undefined ? "Local" : `${target.namespace ?? ""}/${target.name ?? ""}`, availability(service), age(service, context)];
  },
};

function availability({ status }: DeepReadonly<APIService>): string {
  const available = status?.conditions?.find(({ type }) => type === "Available");
  if (available === undefined) return "Unknown";
  return available.status === "True" ? available.status : `${available.status} (${available.reason ?? ""})`;
}
