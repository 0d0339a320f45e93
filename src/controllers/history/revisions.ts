import { deepEqual } from "../../apimachinery/json.ts";
import { isAlreadyExists, isNotFound } from "../../apimachinery/status.ts";
import { controllerOf, controllerReference, edited, resources } from "../../client/index.ts";
import { createAction, deleteAction, updateAction } from "../../operator/index.ts";
import { templateHash } from "../ownership/template-hash.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ControllerRevision } from "../../api/apps-v1/types.ts";
import type { PodTemplateSpec } from "../../api/core-v1/types.ts";
import type { ResourceType } from "../../client/index.ts";
import type { Action } from "../../operator/index.ts";

/** The templates that a set had and has, as ControllerRevisions: snapshots with ascending numbers (API reference "ControllerRevision"). */
export interface History {
  readonly owner: DeepReadonly<KubeObject>;
  readonly ownerResource: ResourceType;
  readonly template: DeepReadonly<PodTemplateSpec>;
  readonly revisions: readonly DeepReadonly<ControllerRevision>[];
  readonly collisionCount: number | undefined;
  /** The revision of that name, whoever owns it, as the cache has it when it is asked. */
  readonly namesake: (name: string) => DeepReadonly<ControllerRevision> | undefined;
  /** The label that carries the hash. */
  readonly hashLabel: string;
}

/** The revision of the template as it is now; undefined when it has to be made. */
export function currentRevision(history: History): DeepReadonly<ControllerRevision> | undefined {
  const data = snapshotOf(history.template);
  return byNumber(history.revisions)
    .reverse()
    .find((revision) => deepEqual(revision.data, data));
}

/** Makes the revision of the template; `whenTaken` tells what to do when another template has its name. */
export function createRevision(history: History, whenTaken: () => readonly Action[]): Action {
  const { owner, ownerResource, template, hashLabel, collisionCount } = history;
  const data = snapshotOf(template);
  const hash = templateHash(data, collisionCount);
  const annotations = owner.metadata.annotations;
  const revision: ControllerRevision = {
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      namespace: owner.metadata.namespace ?? "",
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations !== undefined && { annotations: { ...annotations } }),
      ownerReferences: [controllerReference(ownerResource, owner)],
    },
    data: data as NonNullable<ControllerRevision["data"]>,
    revision: nextNumber(history),
  };
  return createAction(resources.controllerRevisions, revision, {
    onError: (error) => ({ severity: "stop", ...(isAlreadyExists(error) && isTaken(history, revision) && { actions: whenTaken() }) }),
  });
}

/** Whether something else has the name. Not known while the cache does not show it: it may be our own, made by a request whose answer was lost. */
function isTaken({ owner, namesake }: History, { metadata, data }: ControllerRevision): boolean {
  const taker = namesake(metadata.name ?? "");
  return taker !== undefined && !(controllerOf(taker)?.uid === owner.metadata.uid && deepEqual(taker.data, data));
}

/** A template that comes back is the newest again; nothing when it is already. */
export function renumber(history: History, revision: DeepReadonly<ControllerRevision>): readonly Action[] {
  const highest = history.revisions.filter((other) => other !== revision).reduce((most, other) => Math.max(most, numberOf(other)), 0);
  if (numberOf(revision) > highest) return [];
  const updated = edited<ControllerRevision>(revision, (draft) => {
    draft.revision = highest + 1;
  });
  return [updateAction(resources.controllerRevisions, updated)];
}

/** Deletes the oldest revisions beyond the limit; those in `live` stay and do not count. */
export function trimHistory({ revisions }: History, limit: number, live: ReadonlySet<string>): readonly Action[] {
  const idle = byNumber(revisions).filter(({ metadata }) => !live.has(metadata.name ?? "") && metadata.deletionTimestamp === undefined);
  return idle
    .slice(0, Math.max(0, idle.length - limit))
    .map((revision) =>
      deleteAction(resources.controllerRevisions, revision, {}, { onError: (error) => ({ severity: isNotFound(error) ? "ignore" : "continue" }) }),
    );
}

export function hashOf(revision: DeepReadonly<ControllerRevision>, hashLabel: string): string {
  return revision.metadata.labels?.[hashLabel] ?? "";
}

/** Lowest number first. */
export function byNumber(revisions: readonly DeepReadonly<ControllerRevision>[]): DeepReadonly<ControllerRevision>[] {
  return [...revisions].sort((left, right) => numberOf(left) - numberOf(right) || ((left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1));
}

export function numberOf({ revision }: DeepReadonly<ControllerRevision>): number {
  return revision ?? 0;
}

/** The template that a revision is of. */
export function templateOf({ data }: DeepReadonly<ControllerRevision>): DeepReadonly<PodTemplateSpec> {
  const { $patch: _patch, ...template } = ((data as { spec?: { template?: object } } | undefined)?.spec?.template ?? {}) as { $patch?: string };
  return template as DeepReadonly<PodTemplateSpec>;
}

/** What a revision keeps: a strategic merge patch that puts the template back. */
function snapshotOf(template: DeepReadonly<PodTemplateSpec>): object {
  return { spec: { template: { ...template, $patch: "replace" } } };
}

function nextNumber({ revisions }: History): number {
  return revisions.reduce((highest, revision) => Math.max(highest, numberOf(revision)), 0) + 1;
}
