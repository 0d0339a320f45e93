/** The row of a scale, as the subresource answers. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { Scale } from "./types.ts";

export const scaleColumns: TablePrinter<Scale> = {
  cells: (scale, context) => [nameOf(scale), scale.spec?.replicas ?? 0, scale.status?.replicas ?? 0, age(scale, context)],
};
