/** Rows of events, the same in both groups. */
import { eventColumns as coreEventColumns } from "../core-v1/columns.ts";
import type { TablePrinter } from "../table.ts";
import { eventToCore } from "./conversion.ts";
import type { Event } from "./types.ts";

export const eventColumns: TablePrinter<Event> = { cells: (event, context) => coreEventColumns.cells(eventToCore(event), context) };
