import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";

const setting = { controllers: ["endpointslice-mirroring-controller"], nodes: [], sharesObjects: false, steps: 14, pauseMs: 8000 };

/** Endpoints that people keep change, and their Service gets a selector or loses it: the slices repeat them while it has none. */
simulate("EndpointSlices repeat Endpoints kept by hand", setting, ({ client, random, state, unknownCreates }) => {
  let addresses: string[] = [];
  let isMirrored = true;
  const slices = () => state.of<EndpointSlice>("EndpointSlice").filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === "web");
  const subsets = () => {
    addresses = Array.from({ length: random.integer(4) }, () => `192.0.2.${1 + random.integer(200)}`);
    addresses = [...new Set(addresses)];
    return addresses.length === 0 ? [] : [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ port: 80 }] }];
  };
  return {
    async arrange() {
      await client.create(resources.services, { metadata: { namespace: "default", name: "web" }, spec: { ports: [{ port: 80 }] } });
      await client.create(resources.endpoints, { metadata: { namespace: "default", name: "web" }, subsets: subsets() });
    },
    step() {
      if (random.integer(4) > 0) return client.patch(resources.endpoints, "default", "web", { type: "merge", body: { subsets: subsets() } });
      isMirrored = !isMirrored;
      return client.patch(resources.services, "default", "web", { type: "merge", body: { spec: { selector: isMirrored ? null : { app: "web" } } } });
    },
    check({ kind, object, old }) {
      if (kind !== "EndpointSlice" || object === undefined || old !== undefined) return;
      const allowed = 1 + unknownCreates();
      assert.ok(slices().length <= allowed, `${slices().length} slices of ${allowed}`);
    },
    async reached() {
      const listed = slices().flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []));
      assert.deepEqual(listed.sort(), isMirrored ? [...addresses].sort() : []);
    },
  };
});
