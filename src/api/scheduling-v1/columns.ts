/** Rows of priority classes. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { PriorityClass } from "./types.ts";

export const priorityClassColumns: TablePrinter<PriorityClass> = {
  cells: (priorityClass, context) => [
    nameOf(priorityClass),
    priorityClass.value ?? 0,
    priorityClass.globalDefault ?? false,
    age(priorityClass, context),
    priorityClass.preemptionPolicy ?? "",
  ],
};
