import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isReady, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";

const maxEndpoints = 3;
const setting = { controllers: ["endpointslice-controller"], flags: { "max-endpoints-per-slice": String(maxEndpoints) }, steps: 16, pauseMs: 8000 };

/** Pods come, go, and are ready or not, and ports change: the slices are never too full, and end with each ready pod once, on the right port. */
simulate("EndpointSlices end with the ready pods", setting, ({ client, random, state }) => {
  let born = 0;
  let port = 80;
  const pods = () => state.of<Pod>("Pod");
  const slices = () => state.of<EndpointSlice>("EndpointSlice").filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === "web");
  const create = () =>
    client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born}`, labels: { app: "web" } }, spec: podTemplate("a:1").spec! });
  return {
    async arrange() {
      await client.create(resources.services, { metadata: { namespace: "default", name: "web" }, spec: { selector: { app: "web" }, ports: [{ port }] } });
      for (let count = 0; count < 5; count++) await create();
    },
    async step() {
      const pod = someOf(random, pods());
      const name = pod?.metadata.name ?? "";
      const choice = random.integer(6);
      if (choice === 0) await client.patch(resources.services, "default", "web", { type: "merge", body: { spec: { ports: [{ port: ++port }] } } });
      else if (choice <= 2 || pod === undefined) await create();
      else if (choice === 3) await client.delete(resources.pods, "default", name);
      else
        await client.patch(resources.pods, "default", name, {
          type: "strategic",
          subresource: "status",
          body: { status: { conditions: [{ type: "Ready", status: isReady(pod) ? "False" : "True" }] } },
        });
    },
    check({ kind, object }) {
      if (kind !== "EndpointSlice" || object === undefined) return;
      const { endpoints } = object as EndpointSlice;
      assert.ok((endpoints ?? []).length <= maxEndpoints, "the slice is not too full");
    },
    async reached() {
      const listed = slices().flatMap(({ endpoints, ports }) =>
        (endpoints ?? []).map(({ addresses, conditions }) => `${addresses?.[0]}:${ports?.[0]?.port} ${conditions?.ready}`),
      );
      assert.deepEqual(
        listed.sort(),
        pods()
          .map((pod) => `${pod.status?.podIP}:${port} ${isReady(pod)}`)
          .sort(),
      );
    },
  };
});
