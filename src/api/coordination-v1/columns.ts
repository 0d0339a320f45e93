/** Rows of leases. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { Lease } from "./types.ts";

export const leaseColumns: TablePrinter<Lease> = {
  cells: (lease, context) => [nameOf(lease), lease.spec?.holderIdentity ?? "", age(lease, context)],
};
