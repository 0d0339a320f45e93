import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Container, Pod } from "../../../api/core-v1/types.ts";

/** The features that a pod can only do with, by the names under which nodes declare them. */
export function requiredFeatures(pod: DeepReadonly<Pod>): readonly string[] {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  return containers.some(restartsAll) ? ["RestartAllContainersOnContainerExits"] : [];
}

function restartsAll({ restartPolicyRules }: DeepReadonly<Container>): boolean {
  return restartPolicyRules?.some(({ action }) => action === "RestartAllContainers") === true;
}
