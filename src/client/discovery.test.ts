import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { VirtualClock } from "../base/virtual-clock.ts";
import { scriptedHandler } from "../testing/scripted-handler.ts";
import { Client } from "./client.ts";
import { discoverResources, preferredResources, resourceOfKind } from "./discovery.ts";
import { loopbackTransport } from "./transports/loopback-transport.ts";

const entry = (resource: string, kind: string, group: string, version: string, subresources: unknown[] = []) => ({
  resource,
  responseKind: { group, version, kind },
  scope: "Namespaced",
  verbs: ["get", "list"],
  subresources,
});
const core = { items: [{ metadata: {}, versions: [{ version: "v1", freshness: "Current", resources: [entry("pods", "Pod", "", "v1")] }] }] };
const scale = { subresource: "scale", responseKind: { group: "autoscaling", version: "v1", kind: "Scale" }, verbs: ["get", "update"] };
const groups = {
  items: [
    {
      metadata: { name: "example.com" },
      versions: [
        { version: "v2", freshness: "Stale", resources: [entry("widgets", "Widget", "example.com", "v2", [scale])] },
        { version: "v1", freshness: "Current", resources: [entry("widgets", "Widget", "example.com", "v1"), entry("gears", "Gear", "example.com", "v1")] },
      ],
    },
  ],
};

test("discovery: resources, preferred versions, kinds", async () => {
  const { handler, requests } = scriptedHandler([core, groups]);
  const client = new Client({ transport: loopbackTransport(handler, { username: "test", groups: [] }), clock: new VirtualClock(), userAgent: "test" });
  const discovered = await discoverResources(client);
  deepEqual(requests, ["GET /api", "GET /apis"]);
  deepEqual(
    discovered.map(({ type, isStale }) => `${type.group}/${type.version} ${type.resource} ${isStale}`),
    ["/v1 pods false", "example.com/v2 widgets true", "example.com/v1 widgets false", "example.com/v1 gears false"],
  );
  deepEqual(
    discovered[1]!.subresources.map(({ name, kind }) => [name, kind]),
    [["scale", { group: "autoscaling", version: "v1", kind: "Scale" }]],
  );
  deepEqual(
    preferredResources(discovered).map(({ type }) => `${type.version} ${type.resource}`),
    ["v1 pods", "v2 widgets", "v1 gears"],
  );
  deepEqual(resourceOfKind(discovered, { group: "example.com", kind: "Widget", version: "v1" }), {
    group: "example.com",
    version: "v1",
    resource: "widgets",
    kind: "Widget",
    isNamespaced: true,
  });
});
