import { test } from "node:test";
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { ask } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { compareVersions } from "./documents.ts";

test("discovery: versions as they are ranked", () => {
  const ranked = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10", "v1gamma1"];
  deepEqual([...ranked].reverse().sort(compareVersions), ranked);
});

interface Group {
  name: string;
  versions: { version: string }[];
  preferredVersion: { version: string };
}
interface Resource {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  shortNames?: string[];
  group?: string;
  version?: string;
  storageVersionHash?: string;
}

const widgets = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Widget", plural: "widgets", shortNames: ["wd"] },
    versions: ["v1alpha1", "v1"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: { openAPIV3Schema: { type: "object" } },
      subresources: { status: {} },
    })),
  },
};

test("discovery: groups, resources and the aggregated form", async () => {
  await using cluster = await TestCluster.start();
  const { groups } = (await ask(cluster, "GET", "/apis")).json as unknown as { groups: Group[] };
  const apps = groups.find(({ name }) => name === "apps")!;
  equal(apps.preferredVersion.version, "v1");
  deepEqual((await ask(cluster, "GET", "/apis/apps")).json, { kind: "APIGroup", apiVersion: "v1", ...apps });
  const core = (await ask(cluster, "GET", "/api/v1")).json as unknown as { groupVersion: string; resources: Resource[] };
  equal(core.groupVersion, "v1");
  const pods = core.resources.find(({ name }) => name === "pods")!;
  deepEqual([pods.kind, pods.namespaced, pods.shortNames], ["Pod", true, ["po"]]);
  deepEqual(pods.verbs, ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]);
  const eviction = core.resources.find(({ name }) => name === "pods/eviction")!;
  deepEqual([eviction.kind, eviction.group, eviction.version], ["Eviction", "policy", "v1"]);
  deepEqual(
    core.resources.map(({ name }) => name),
    core.resources.map(({ name }) => name).sort(),
  );
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const first = await ask(cluster, "GET", "/apis", undefined, { accept });
  equal(first.json["kind"], "APIGroupDiscoveryList");
  const etag = first.headers["etag"] as string;
  const again = await ask(cluster, "GET", "/apis", undefined, { accept, "if-none-match": etag });
  deepEqual([again.status, again.text], [304, ""]);
  await ask(cluster, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets);
  await cluster.turn();
  const changed = await ask(cluster, "GET", "/apis", undefined, { accept, "if-none-match": etag });
  deepEqual([changed.status, notEqual(changed.headers["etag"], etag)], [200, undefined]);
  const custom = (await ask(cluster, "GET", "/apis/example.com")).json as unknown as Group;
  deepEqual([custom.versions.map(({ version }) => version), custom.preferredVersion.version], [["v1", "v1alpha1"], "v1"]);
  await ask(cluster, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com");
  await cluster.turn();
});

test("discovery: what is not there, and what is only read", async () => {
  await using cluster = await TestCluster.start();
  const table: [method: string, path: string, status: number, reason: string | undefined][] = [
    ["GET", "/apis/nothing.io", 404, undefined],
    ["GET", "/apis/nothing.io/v1", 404, undefined],
    ["GET", "/apis/apps/v9", 404, "NotFound"],
    ["GET", "/api/v9", 404, "NotFound"],
    ["POST", "/apis", 405, "MethodNotAllowed"],
    ["DELETE", "/api/v1", 405, "MethodNotAllowed"],
    ["GET", "/apis/apps/v1/nothings", 404, "NotFound"],
  ];
  for (const [method, path, status, reason] of table) {
    const answer = await ask(cluster, method, path);
    equal(answer.status, status, path);
    if (reason !== undefined) equal(answer.json["reason"], reason, path);
    else equal(answer.text, "404 page not found\n", path);
  }
});
