/** Which changes count, for `isRelevant` of reconcilers and watches. */
import { deepEqual } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Change } from "../../client/index.ts";

/** Whether a change counts. */
export type Predicate = (change: Change<KubeObject>) => boolean;

/** The spec changed, or the deletion began; changes of status and metadata do not count. */
export const generationChanged: Predicate = whenChanged(({ metadata }) => [metadata.generation, metadata.deletionTimestamp]);
/** The labels changed; additions and deletions count. */
export const labelsChanged: Predicate = whenChanged(({ metadata }) => metadata.labels);
/** The annotations changed; additions and deletions count. */
export const annotationsChanged: Predicate = whenChanged(({ metadata }) => metadata.annotations);

/** Additions and deletions count, and changes in what `part` gives. */
export function whenChanged(part: (object: Change<KubeObject>["object"]) => unknown): Predicate {
  return (change) => change.kind !== "update" || !deepEqual(part(change.old), part(change.object));
}

/** Counts when one of them does. */
export function anyOf(...predicates: readonly Predicate[]): Predicate {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** Counts when all of them do. */
export function allOf(...predicates: readonly Predicate[]): Predicate {
  return (change) => predicates.every((predicate) => predicate(change));
}
