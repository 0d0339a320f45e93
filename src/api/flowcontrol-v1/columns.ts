/** Rows of request priorities. Flow schemas are listed in the order in which they are tried. */
import { age, nameOf } from "../cells.ts";
import type { TablePrinter } from "../table.ts";
import type { FlowSchema, PriorityLevelConfiguration } from "./types.ts";

export const flowSchemaColumns: TablePrinter<FlowSchema> = {
  cells(schema, context) {
    const { spec, status } = schema;
    const isDangling = status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?";
    return [
      nameOf(schema),
      spec?.priorityLevelConfiguration?.name ?? "",
      spec?.matchingPrecedence ?? 0,
      spec?.distinguisherMethod?.type ?? "<none>",
      age(schema, context),
      isDangling,
    ];
  },
  compare(left, right) {
    const difference = (left.spec?.matchingPrecedence ?? 0) - (right.spec?.matchingPrecedence ?? 0);
    if (difference !== 0) return difference;
    return nameOf(left) < nameOf(right) ? -1 : Number(nameOf(left) > nameOf(right));
  },
};

export const priorityLevelConfigurationColumns: TablePrinter<PriorityLevelConfiguration> = {
  cells(level, context) {
    const { type, limited } = level.spec ?? {};
    const queuing = limited?.limitResponse?.queuing;
    return [
      nameOf(level),
      type ?? "",
      limited?.nominalConcurrencyShares ?? "<none>",
      queuing?.queues ?? "<none>",
      queuing?.handSize ?? "<none>",
      queuing?.queueLengthLimit ?? "<none>",
      age(level, context),
    ];
  },
};
