/** Rows of Scale objects. */
import type { Scale } from "../../../api/autoscaling-v1/types.ts";
import { since } from "../../../api/cells.ts";
import { effectiveColumns } from "../../../api/custom-columns.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ResourceDefinition, TableColumn, TableDefinition } from "../../registry/resource-definition.ts";
import { nameColumn } from "../definition.ts";

/** The resource as one whose rows are Scales. */
export function withScaleTable(definition: ResourceDefinition): ResourceDefinition {
  return Object.create(definition, { kind: { value: "Scale" }, table: { value: definition.isCustom ? scaleTable : plainScaleTable } }) as ResourceDefinition;
}

const [age] = effectiveColumns(undefined);

const scaleColumns: readonly TableColumn[] = [
  nameColumn,
  { name: "Desired", type: "integer", format: "", description: "Number of desired replicas", priority: 0 },
  { name: "Available", type: "integer", format: "", description: "Number of actual replicas", priority: 0 },
  { name: "Age", type: "date", format: "", description: age!.description!, priority: 0 },
];

/** Of built-in kinds, described by the fields they show. */
const plainColumns: readonly TableColumn[] = [
  { name: "Name", type: "string", format: "", priority: 0 },
  { name: "Desired", type: "integer", format: "", priority: 0 },
  { name: "Available", type: "integer", format: "", priority: 0 },
  { name: "Age", type: "string", format: "", priority: 0 },
];

const printer: TableDefinition["printer"] = {
  cells: ({ metadata, spec, status }: Scale & KubeObject, context) => [
    metadata.name ?? "",
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    since(metadata.creationTimestamp, context),
  ],
};
const scaleTable: TableDefinition = { columns: scaleColumns, printer };
const plainScaleTable: TableDefinition = { columns: plainColumns, printer };
