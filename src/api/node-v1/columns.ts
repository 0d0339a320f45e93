/** Rows of runtime classes. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { RuntimeClass } from "./types.ts";

export const runtimeClassColumns: TablePrinter<RuntimeClass> = {
  cells: (runtimeClass, context) => [nameOf(runtimeClass), runtimeClass.handler ?? "", age(runtimeClass, context)],
};
