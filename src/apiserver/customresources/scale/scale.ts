/** What `/scale` of a custom resource shows and changes. */
import type { Scale } from "../../../api/autoscaling-v1/types.ts";
import { isRawNumber } from "../../../apimachinery/json.ts";
import { deepCopy } from "../../../apimachinery/json.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { internalServerError } from "../../../apimachinery/status.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { setValueAt, valueAt } from "./scale-paths.ts";

type Paths = NonNullable<ResourceDefinition["scale"]>;

/** The Scale's content; `isLenient` takes 0 for replicas that are not there. Throws 500 when they are missing. */
export function customScaleParts(object: KubeObject, paths: Paths, isLenient: boolean): Pick<Scale, "spec" | "status"> {
  const replicas = valueAt(object, paths.specReplicas);
  if (replicas === undefined && !isLenient) throw internalServerError(`the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`);
  const selector = paths.labelSelector === undefined ? undefined : valueAt(object, paths.labelSelector);
  return {
    spec: replicas === undefined ? {} : { replicas: wholeNumber(replicas) },
    status: { replicas: wholeNumber(valueAt(object, paths.statusReplicas)), ...(typeof selector === "string" && selector !== "" && { selector }) },
  };
}

/** The object with other replicas. */
export function withCustomReplicas(object: KubeObject, paths: Paths, replicas: number): KubeObject {
  const copy = deepCopy(object);
  setValueAt(copy, paths.specReplicas, replicas);
  return copy;
}

function wholeNumber(value: unknown): number {
  return typeof value === "number" && !isRawNumber(value) ? Math.trunc(value) : 0;
}
