import { isNotFound } from "../../apimachinery/status.ts";
import { deepEqual } from "../../apimachinery/json.ts";
import { edited, isNamespaceTerminating, resources } from "../../client/index.ts";
import { createAction, nothingToDo, updateAction } from "../../operator/index.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ConfigMap, Namespace } from "../../api/core-v1/types.ts";
import type { ErrorDecision, Plan } from "../../operator/index.ts";

/**
 * Every namespace has a ConfigMap `kube-root-ca.crt` with the CA by which pods verify the API server (API concept "Bound service account
 * token volume"). It is made when it is missing and put right when somebody changed its data or dropped its description.
 */
export function planRootCa({ namespace, configMap, caBundle }: RootCaSnapshot): Plan {
  if (namespace.status?.phase !== "Active") return nothingToDo;
  const name = namespace.metadata.name ?? "";
  const data = { "ca.crt": caBundle };
  if (configMap === undefined) {
    const wanted: ConfigMap = { metadata: { name: rootCaName, namespace: name, annotations: { [descriptionAnnotation]: description } }, data };
    return { actions: [createAction(resources.configMaps, wanted, { onError: whenCreationFails })], reasons: [`namespace ${name} has no ${rootCaName}`] };
  }
  const isDescribed = (configMap.metadata.annotations?.[descriptionAnnotation] ?? "") !== "";
  if (isDescribed && deepEqual(configMap.data, data)) return nothingToDo;
  const corrected = edited<ConfigMap>(configMap, (draft) => {
    draft.data = data;
    draft.metadata.annotations = { ...draft.metadata.annotations, [descriptionAnnotation]: description };
  });
  return { actions: [updateAction(resources.configMaps, corrected)], reasons: [`${rootCaName} in namespace ${name} differs from the CA`] };
}

export interface RootCaSnapshot {
  readonly namespace: DeepReadonly<Namespace>;
  readonly configMap: DeepReadonly<ConfigMap> | undefined;
  /** PEM. */
  readonly caBundle: string;
}

export const rootCaName = "kube-root-ca.crt";

const descriptionAnnotation = "kubernetes.io/description";
const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** A namespace that is gone, or going, needs no ConfigMap. */
function whenCreationFails(error: Error): ErrorDecision {
  return { severity: isNotFound(error) || isNamespaceTerminating(error) ? "ignore" : "stop" };
}
