/** Rows of Scale objects. */
import type { Scale } from "../../api/autoscaling-v1/types.ts";
import { since } from "../../api/cells.ts";
import { effectiveColumns } from "../../api/custom-columns.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ResourceDefinition, TableColumn, TableDefinition } from "../registry/resource-definition.ts";
import { nameColumn } from "./definition.ts";

/** The resource as one whose rows are Scales. */
export function withScaleTable(definition: ResourceDefinition): ResourceDefinition {
  return Object.create(definition, { table: { value: scaleTable } }) as ResourceDefinition;
}

const [age] = effectiveColumns(undefined);

const scaleColumns: readonly TableColumn[] = [
  nameColumn,
  { name: "Desired", type: "integer", format: "", description: "Number of desired replicas", priority: 0 },
  { name: "Available", type: "integer", format: "", description: "Number of actual replicas", priority: 0 },
  { name: "Age", type: "date", format: "", description: age!.description!, priority: 0 },
];

const scaleTable: TableDefinition = {
  columns: scaleColumns,
  printer: {
    cells: ({ metadata, spec, status }: Scale & KubeObject, context) => [metadata.name ?? "", spec?.replicas ?? 0, status?.replicas ?? 0, since(metadata.creationTimestamp, context)],
  },
};
