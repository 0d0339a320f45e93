/** What a pod names of the API: a pod that no API server knows may name none of it. Pure. */
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import { referencedNames } from "../volumes/object-source.ts";

/** The first resource that the pod refers to, by its plural name; undefined when there is none. */
export function foreignReference(pod: DeepReadonly<Pod>): string | undefined {
  const { serviceAccountName = "", volumes = [], resourceClaims = [] } = pod.spec ?? {};
  if (serviceAccountName !== "") return "serviceaccounts";
  const { configMaps, secrets } = referencedNames(pod);
  if (secrets.length > 0) return "secrets";
  if (configMaps.length > 0) return "configmaps";
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined)) return "clustertrustbundles";
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) return "serviceaccounts";
  if (volumes.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined)) return "persistentvolumeclaims";
  if (volumes.some(({ csi }) => csi !== undefined)) return "csidrivers";
  return resourceClaims.length > 0 ? "resourceclaims" : undefined;
}
