/** LimitPodHardAntiAffinityTopology: a pod keeps others away from its own node only. */
import type { Pod } from "../../../api/core-v1/types.ts";
import type { AdmissionPlugin } from "../chain.ts";
import { refuse } from "../refuse.ts";

const hostname = "kubernetes.io/hostname";

export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: "LimitPodHardAntiAffinityTopology",
  operations: new Set(["CREATE", "UPDATE"]),
  resources: new Set(["/pods"]),
  validate(request) {
    if (request.subresource !== "") return;
    const terms = (request.object as unknown as Pod).spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const other = terms.find(({ topologyKey }) => topologyKey !== hostname);
    if (other !== undefined)
      throw refuse(request, `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key ${hostname} is allowed`);
  },
};
