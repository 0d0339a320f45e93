/** Rows of migrations of stored versions. */
import { qualifiedResource } from "../../apimachinery/object.ts";
import { nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { StorageVersionMigration } from "./types.ts";

export const storageVersionMigrationColumns: TablePrinter<StorageVersionMigration> = {
  cells(migration) {
    const { spec, status } = migration;
    const isTrue = (wanted: string) => status?.conditions?.some((condition) => condition.type === wanted && condition.status === "True") === true;
    const state = ["Succeeded", "Failed", "Running"].find(isTrue) ?? "Unknown";
    return [nameOf(migration), qualifiedResource(spec?.resource?.resource ?? "", spec?.resource?.group ?? ""), state];
  },
};
