import { deepCopy } from "../../apimachinery/json.ts";
import { edited, referenceTo, resources } from "../../client/index.ts";
import { eventAction, updateAction } from "../../operator/index.ts";
import { revisionOf, rollbackAnnotation, rolledBackAnnotations } from "./annotations.ts";
import { isSameTemplate, withoutHash } from "./family.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Deployment, ReplicaSet } from "../../api/apps-v1/types.ts";
import type { PodTemplateSpec } from "../../api/core-v1/types.ts";
import type { EventText } from "../../client/index.ts";
import type { Plan } from "../../operator/index.ts";
import type { Family } from "./family.ts";

/** Goes back to the revision that the annotation asks for (0: the one before), and takes the annotation away. */
export function planRollback(family: Family): Plan {
  const { deployment, all } = family;
  const text = deployment.metadata.annotations?.[rollbackAnnotation] ?? "";
  const asked = /^\d+$/.test(text) ? Number(text) : 0;
  const revision = asked === 0 ? previousRevision(family) : asked;
  if (revision === 0) return finish(deployment, warning("DeploymentRollbackRevisionNotFound", "Unable to find last revision."));
  const target = all.find((replicaSet) => revisionOf(replicaSet) === revision);
  if (target === undefined) return finish(deployment, warning("DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to."));
  if (isSameTemplate(target.spec?.template, deployment.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${deployment.metadata.name}"`;
    return finish(deployment, warning("DeploymentRollbackTemplateUnchanged", message));
  }
  const message = `Rolled back deployment "${deployment.metadata.name}" to revision ${revision}`;
  return finish(deployment, { type: "Normal", reason: "DeploymentRollback", message }, target);
}

/** The second highest revision; 0 when there is none. */
function previousRevision({ all }: Family): number {
  const revisions = all.map(revisionOf).sort((left, right) => right - left);
  return revisions[1] ?? 0;
}

function finish(deployment: DeepReadonly<Deployment>, event: EventText, target?: DeepReadonly<ReplicaSet>): Plan {
  const updated = edited<Deployment>(deployment, (draft) => {
    if (target !== undefined && draft.spec !== undefined) {
      draft.spec.template = deepCopy(withoutHash(target.spec?.template)) as PodTemplateSpec;
      draft.metadata.annotations = { ...rolledBackAnnotations(deployment, target) };
    }
    delete draft.metadata.annotations?.[rollbackAnnotation];
  });
  const told = eventAction(referenceTo(resources.deployments, deployment), event);
  return { actions: [updateAction(resources.deployments, updated, { onDone: () => [told] })], reasons: [event.message] };
}

function warning(reason: string, message: string): EventText {
  return { type: "Warning", reason, message };
}
