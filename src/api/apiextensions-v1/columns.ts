/** Rows of definitions of custom resources. */
import { createdAt, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { CustomResourceDefinition } from "./types.ts";

export const customResourceDefinitionColumns: TablePrinter<CustomResourceDefinition> = {
  isPlain: true,
  cells(definition) {
    const { spec, status } = definition;
    const versions = (spec?.versions ?? []).filter(({ served }) => served).map(({ name, storage }) => (storage ? `${name}(storage)` : name));
    const isEstablished = status?.conditions?.some((condition) => condition.type === "Established" && condition.status === "True") === true;
    return [
      nameOf(definition),
      spec?.scope ?? "",
      versions.join(","),
      createdAt(definition),
      spec?.group ?? "",
      spec?.names?.kind ?? "",
      (spec?.names?.shortNames ?? []).join(","),
      isEstablished,
    ];
  },
};
