/** Deleting a definition: it stays, marked, until its instances are gone. */
import type { DeleteRules } from "../strategy.ts";
import type { CustomResourceDefinition } from "./types.ts";

const cleanup = "customresourcecleanup.apiextensions.k8s.io";

export const definitionDeletion: DeleteRules<CustomResourceDefinition> = {
  answer: "object",
  holds: ({ metadata }) => metadata.deletionTimestamp === undefined || metadata.finalizers?.includes(cleanup) === true,
  mark(definition) {
    const { metadata } = definition;
    metadata.finalizers ??= [];
    if (!metadata.finalizers.includes(cleanup)) metadata.finalizers.push(cleanup);
    const status = (definition.status ??= {});
    const condition = {
      type: "Terminating",
      status: "True",
      lastTransitionTime: metadata.deletionTimestamp!,
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    status.conditions = [...(status.conditions ?? []).filter(({ type }) => type !== condition.type), condition];
  },
};
