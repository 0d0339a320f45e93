/** Rows of disruption budgets. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { PodDisruptionBudget } from "./types.ts";

export const podDisruptionBudgetColumns: TablePrinter<PodDisruptionBudget> = {
  cells(budget, context) {
    const { spec, status } = budget;
    return [nameOf(budget), String(spec?.minAvailable ?? "N/A"), String(spec?.maxUnavailable ?? "N/A"), status?.disruptionsAllowed ?? 0, age(budget, context)];
  },
};
