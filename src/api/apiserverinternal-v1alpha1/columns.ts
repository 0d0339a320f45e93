/** Rows of storage versions. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { StorageVersion } from "./types.ts";

const maxShown = 3;

export const storageVersionColumns: TablePrinter<StorageVersion> = {
  cells(version, context) {
    const servers = (version.status?.storageVersions ?? []).map(({ apiServerID, encodingVersion }) => `${apiServerID}=${encodingVersion}`);
    const shown = servers.slice(0, maxShown).join(",") + (servers.length > maxShown ? ` + ${servers.length - maxShown} more...` : "");
    return [nameOf(version), version.status?.commonEncodingVersion ?? "<unset>", servers.length === 0 ? "<unset>" : shown, age(version, context)];
  },
};
