/** Builders for the proxy's tests. */
import type { EndpointConditions, EndpointHints, EndpointSlice } from "../api/discovery-v1/types.ts";

export interface TestEndpoint {
  readonly address: string;
  readonly nodeName?: string;
  readonly conditions?: EndpointConditions;
  readonly hints?: EndpointHints;
}

/** A slice of IPv4 endpoints with one unnamed TCP port. */
export function endpointSlice(endpoints: readonly TestEndpoint[], port: number): EndpointSlice {
  return {
    metadata: {},
    addressType: "IPv4",
    ports: [{ name: "", protocol: "TCP", port }],
    endpoints: endpoints.map(({ address, ...rest }) => ({ addresses: [address], conditions: { ready: true }, ...rest })),
  };
}
