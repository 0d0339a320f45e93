import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { isReady, podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Endpoints, Pod } from "../../api/core-v1/types.ts";

const setting = { controllers: ["endpoints-controller"], steps: 14, pauseMs: 8000 };

/** Pods come, go, and are ready or not, ports change, a Service goes and comes again: Endpoints tell each pod once, at the right port. */
simulate("Endpoints end with the pods of their Service", setting, ({ client, random, state }) => {
  let born = 0;
  let port = 80;
  let isServed = true;
  const pods = () => state.of<Pod>("Pod");
  const createPod = () =>
    client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born}`, labels: { app: "web" } }, spec: podTemplate("a:1").spec! });
  const createService = () =>
    client.create(resources.services, { metadata: { namespace: "default", name: "web" }, spec: { selector: { app: "web" }, ports: [{ port }] } });
  return {
    async arrange() {
      await createService();
      for (let count = 0; count < 4; count++) await createPod();
    },
    async step() {
      const pod = someOf(random, pods());
      const name = pod?.metadata.name ?? "";
      const choice = random.integer(7);
      if (choice === 0) {
        port += 1;
        if (isServed) await client.patch(resources.services, "default", "web", { type: "merge", body: { spec: { ports: [{ port }] } } });
      } else if (choice === 1) {
        isServed = !isServed;
        if (isServed) await createService();
        else await client.delete(resources.services, "default", "web");
      } else if (choice === 2 || pod === undefined) await createPod();
      else if (choice === 3) await client.delete(resources.pods, "default", name);
      else {
        const conditions = [{ type: "Ready", status: isReady(pod) ? "False" : "True" }];
        await client.patch(resources.pods, "default", name, { type: "strategic", subresource: "status", body: { status: { conditions } } });
      }
    },
    async reached() {
      const told = state.of<Endpoints>("Endpoints").find(({ metadata }) => metadata.name === "web");
      assert.equal(told !== undefined, isServed);
      const listed = (told?.subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
        ...addresses.map(({ ip }) => `${ip}:${ports[0]?.port} true`),
        ...notReadyAddresses.map(({ ip }) => `${ip}:${ports[0]?.port} false`),
      ]);
      const wanted = isServed ? pods().map((pod) => `${pod.status?.podIP}:${port} ${isReady(pod)}`) : [];
      assert.deepEqual(listed.sort(), wanted.sort());
    },
  };
});
