/** ExtendedResourceToleration: a pod that asks for a device tolerates the taint of the nodes that have it. */
import type { Pod } from "../../../api/core-v1/types.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../chain.ts";
import { visitContainers } from "./containers.ts";

export const extendedResourceToleration: AdmissionPlugin = {
  name: "ExtendedResourceToleration",
  operations: new Set(["CREATE", "UPDATE"]),
  resources: new Set(["/pods"]),
  mutate,
};

function mutate({ object, subresource }: AdmissionRequest): void {
  if (subresource !== "") return;
  const spec = (object as unknown as Pod).spec ?? {};
  const names = new Set<string>();
  visitContainers(spec, ({ resources }, sort) => {
    if (sort === "ephemeral container") return;
    for (const name of Object.keys(resources?.requests ?? {})) if (isExtended(name)) names.add(name);
  });
  if (names.size === 0) return;
  const wanted = [...names].sort().map((key) => ({ key, operator: "Exists", effect: "NoSchedule" }));
  const existing = spec.tolerations ?? [];
  // One that stands there in the same words is not written twice; a wider one does not count.
  spec.tolerations = [
    ...existing,
    ...wanted.filter(
      (toleration) => !existing.some(({ key, operator, effect }) => key === toleration.key && operator === toleration.operator && effect === toleration.effect),
    ),
  ];
}

/** Names of a domain other than Kubernetes' own. */
export function isExtended(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests.");
}
