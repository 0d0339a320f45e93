import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Service } from "../../api/core-v1/types.ts";
import type { Endpoint, EndpointHints } from "../../api/discovery-v1/types.ts";

/** The endpoints with hints for whom they are, as the Service's `trafficDistribution` asks (KEP-4444, KEP-3015). */
export function withHints(service: DeepReadonly<Service>, endpoints: readonly Endpoint[]): Endpoint[] {
  const distribution = service.spec?.trafficDistribution;
  const isByNode = distribution === "PreferSameNode";
  if (!isByNode && distribution !== "PreferClose" && distribution !== "PreferSameZone") return [...endpoints];
  return endpoints.map((endpoint) => {
    if (endpoint.conditions?.ready !== true) return endpoint;
    const hints: EndpointHints = {
      ...(endpoint.zone !== undefined && { forZones: [{ name: endpoint.zone }] }),
      ...(isByNode && endpoint.nodeName !== undefined && { forNodes: [{ name: endpoint.nodeName }] }),
    };
    return Object.keys(hints).length === 0 ? endpoint : { ...endpoint, hints };
  });
}
