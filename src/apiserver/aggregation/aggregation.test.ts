import assert from "node:assert/strict";
import { test } from "node:test";
import type { APIService } from "../../api/apiregistration-v1/types.ts";
import type { Service } from "../../api/core-v1/types.ts";
import type { EndpointSlice } from "../../api/discovery-v1/types.ts";
import type { JsonObject } from "../../apimachinery/json.ts";
import { decideAvailability, withAvailability } from "./availability.ts";
import { goEncodedQuery, goEscapedPath, identityHeaders, passedOn } from "./forwarded-headers.ts";
import { versionInGroups, versionOfResources } from "./remote-discovery.ts";
import { planLocalService } from "./local-services.ts";

const apiService = (service?: { namespace: string; name: string; port: number }): APIService => ({
  metadata: { name: "v1.e.com" },
  spec: { group: "e.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100, ...(service !== undefined && { service }) },
});
const remote = apiService({ namespace: "ns", name: "s", port: 443 });
const service = (spec: object): Service => ({ metadata: { name: "s" }, spec });
const slice = (portName: string, endpoints: object[] | null): EndpointSlice =>
  ({ metadata: { name: "s-1" }, addressType: "IPv4", endpoints, ports: [{ name: portName, port: 8443 }] }) as unknown as EndpointSlice;
const https = service({ ports: [{ name: "https", port: 443 }] });

test("aggregation: what is known of an APIService without asking its server", () => {
  const rows: [what: string, service: Service | undefined, slices: EndpointSlice[], expected: string][] = [
    ["no Service", undefined, [], 'ServiceNotFound: service/s in "ns" is not present'],
    ["another port", service({ ports: [{ port: 80 }] }), [], 'ServicePortError: service/s in "ns" is not listening on port 443'],
    ["no slices", https, [], 'EndpointsNotFound: cannot find endpointslices for service/s in "ns"'],
    ["an empty slice", https, [slice("https", null)], 'MissingEndpoints: endpointslices for service/s in "ns" have no addresses with port name "https"'],
    [
      "another port name",
      https,
      [slice("other", [{ addresses: ["192.0.2.1"] }])],
      'MissingEndpoints: endpointslices for service/s in "ns" have no addresses with port name "https"',
    ],
    [
      "not ready",
      https,
      [slice("https", [{ addresses: ["192.0.2.1"], conditions: { ready: false } }])],
      'MissingEndpoints: endpointslices for service/s in "ns" have no addresses with port name "https"',
    ],
    ["ready in the second slice", https, [slice("https", []), slice("https", [{ addresses: ["192.0.2.1"] }])], "probe"],
    ["a name", service({ type: "ExternalName", externalName: "example.com" }), [], "probe"],
  ];
  for (const [what, given, slices, expected] of rows) {
    const decided = decideAvailability({ apiService: remote, service: given, slices });
    assert.equal(decided === "probe" ? decided : `${decided.reason}: ${decided.message}`, expected, what);
  }
  assert.deepEqual(decideAvailability({ apiService: apiService(), service: undefined, slices: [] }), {
    status: "True",
    reason: "Local",
    message: "Local APIServices are always available",
  });
});

test("aggregation: the time of a condition moves with its status alone", () => {
  const first = withAvailability([], { status: "False", reason: "A", message: "a" }, 0)!;
  const second = withAvailability(first, { status: "False", reason: "B", message: "b" }, 60_000)!;
  assert.deepEqual([second[0]!.reason, second[0]!.lastTransitionTime], ["B", "1970-01-01T00:00:00Z"]);
  assert.equal(withAvailability(second, { status: "False", reason: "B", message: "b" }, 120_000), undefined);
  assert.equal(withAvailability(second, { status: "True", reason: "B", message: "b" }, 120_000)![0]!.lastTransitionTime, "1970-01-01T00:02:00Z");
});

test("aggregation: APIServices of definitions are kept, those of others left alone", () => {
  const managed = (spec: APIService["spec"]): APIService => ({
    metadata: { name: "v1.e.com", labels: { "kube-aggregator.kubernetes.io/automanaged": "true" } },
    ...(spec !== undefined && { spec }),
  });
  const right = apiService().spec!;
  const rows: [what: string, current: APIService | undefined, isServed: boolean, expected: string][] = [
    ["not there", undefined, true, "create"],
    ["as it should be", managed(right), true, "none"],
    ["changed", managed({ ...right, groupPriorityMinimum: 5 }), true, "restore"],
    ["no longer served", managed(right), false, "delete"],
    ["somebody else's", remote, true, "none"],
    ["somebody else's, not served", remote, false, "none"],
    ["neither", undefined, false, "none"],
  ];
  for (const [what, current, isServed, expected] of rows) assert.equal(planLocalService("v1.e.com", current, isServed).kind, expected, what);
});

test("aggregation: headers and URLs of a request that is passed on", () => {
  assert.deepEqual(
    passedOn({
      authorization: "x",
      connection: "close, X-Hop",
      "x-hop": "1",
      te: "trailers",
      "x-remote-user": "evil",
      "impersonate-user": "jane",
      accept: "a",
      host: "h",
      upgrade: "u",
      "content-length": "3",
    }),
    { te: "trailers", accept: "a" },
  );
  assert.deepEqual(passedOn({ te: "gzip" }), {});
  assert.deepEqual(identityHeaders({ username: "u", groups: ["a", "b"], extra: { "example.com/Scope x": ["1", "2"], "ü%": ["3"] } }), {
    "x-remote-user": "u",
    "x-remote-group": ["a", "b"],
    "x-remote-extra-example.com%2fscope%20x": ["1", "2"],
    "x-remote-extra-%c3%bc%25": ["3"],
  });
  assert.equal(goEscapedPath("/apis/a b/ü?#[x]!*:@&=+$,;~"), "/apis/a%20b/%C3%BC%3F%23%5Bx%5D%21%2A:@&=+$,;~");
  assert.equal(goEncodedQuery(new URLSearchParams("limit=5&labelSelector=a%3Db&limit=4&x=a+b")), "labelSelector=a%3Db&limit=5&limit=4&x=a+b");
});

test("aggregation: discovery of an extension API server is read whatever it says", () => {
  const kind = { group: "", version: "", kind: "Thing" };
  const legacy = {
    resources: [
      { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get", 7], shortNames: "th" },
      { name: "things/status", kind: "Thing", verbs: null },
      { name: 5 },
      null,
    ],
  };
  const things = {
    resource: "things",
    responseKind: kind,
    scope: "Namespaced",
    singularResource: "thing",
    verbs: ["get"],
    subresources: [{ subresource: "status", responseKind: kind, verbs: [] }],
  };
  assert.deepEqual(versionOfResources(legacy as unknown as JsonObject, "v1"), { version: "v1", resources: [things] });
  const groups = {
    items: [
      7,
      { metadata: { name: "other" } },
      {
        metadata: { name: "e.com" },
        versions: [{ version: "v2" }, { version: "v1", resources: [{ ...things, categories: [1] }, { resource: {} }, "x"], freshness: 1 }],
      },
    ],
  };
  assert.deepEqual(versionInGroups(groups as unknown as JsonObject, "e.com", "v1"), { version: "v1", resources: [things] });
  assert.deepEqual(versionInGroups(groups as unknown as JsonObject, "e.com", "v2"), { version: "v2", resources: [] });
  for (const document of [{}, { items: "x" }, { items: [{ metadata: { name: "e.com" }, versions: {} }] }])
    assert.equal(versionInGroups(document, "e.com", "v1"), undefined);
});
