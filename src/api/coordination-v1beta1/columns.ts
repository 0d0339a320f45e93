/** Rows of lease candidates. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { LeaseCandidate } from "./types.ts";

export const leaseCandidateColumns: TablePrinter<LeaseCandidate> = {
  cells: (candidate, context) => [
    nameOf(candidate),
    candidate.spec?.leaseName ?? "",
    candidate.spec?.binaryVersion ?? "",
    candidate.spec?.emulationVersion ?? "",
    age(candidate, context),
  ],
};
