import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { ask } from "../../../testing/ask.ts";
import { TestCluster } from "../../../testing/cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, labels: Record<string, string> = {}) => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name, labels } });

interface Page {
  readonly status: number;
  readonly names: string;
  readonly version: string;
  readonly token: string;
  readonly remaining: number | undefined;
}

async function list(cluster: TestCluster, query = "", path = configMaps): Promise<Page> {
  const { status, json } = await ask(cluster, "GET", `${path}?${query}`);
  const { metadata, items = [] } = json as unknown as {
    metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
    items?: KubeObject[];
  };
  return {
    status,
    names: items.map((item) => item.metadata.name).join(" "),
    version: metadata.resourceVersion,
    token: metadata.continue ?? "",
    remaining: metadata.remainingItemCount,
  };
}

async function startWith(...names: string[]): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  for (const name of names) await ask(cluster, "POST", configMaps, configMap(name, { odd: String(names.indexOf(name) % 2) }));
  return cluster;
}

test("list: selectors", async () => {
  await using cluster = await startWith("a", "b", "c");
  await ask(cluster, "POST", "/api/v1/namespaces/kube-system/configmaps", configMap("b"));
  const table: [query: string, names: string][] = [
    ["", "a b c"],
    ["labelSelector=odd%3D1", "b"],
    ["labelSelector=odd!%3D1", "a c"],
    ["labelSelector=none", ""],
    ["fieldSelector=metadata.name%3Db", "b"],
    ["fieldSelector=metadata.name!%3Db", "a c"],
    ["fieldSelector=metadata.name%3Db,metadata.name%3Da", ""],
    ["fieldSelector=metadata.namespace%3Dkube-system", ""],
  ];
  for (const [query, names] of table) equal((await list(cluster, query)).names, names, query);
  equal((await list(cluster, "fieldSelector=metadata.name%3Db", "/api/v1/configmaps")).names, "b b");
  equal((await list(cluster, "fieldSelector=metadata.name%3Db,metadata.namespace%3Ddefault", "/api/v1/configmaps")).names, "b");
  const refused = await ask(cluster, "GET", `${configMaps}?fieldSelector=data%3Dx`);
  deepEqual([refused.status, refused.json["message"]], [400, '"data" is not a known field selector: only "metadata.name", "metadata.namespace"']);
  equal((await ask(cluster, "GET", `${configMaps}?labelSelector=%3D%3D`)).status, 400);
});

test("list: a namespace's name that begins another's", async () => {
  await using cluster = await startWith("a");
  await ask(cluster, "POST", "/api/v1/namespaces", { kind: "Namespace", apiVersion: "v1", metadata: { name: "default-2" } });
  await ask(cluster, "POST", "/api/v1/namespaces/default-2/configmaps", configMap("z"));
  equal((await list(cluster)).names, "a");
});

test("list: pages show one state, whatever is written meanwhile", async () => {
  await using cluster = await startWith("a", "b", "c", "d", "e");
  const first = await list(cluster, "limit=2");
  deepEqual([first.names, first.remaining], ["a b", 3]);
  await ask(cluster, "DELETE", `${configMaps}/c`);
  await ask(cluster, "POST", configMaps, configMap("aa"));
  await ask(cluster, "POST", configMaps, configMap("f"));
  const second = await list(cluster, `limit=2&continue=${first.token}`);
  deepEqual([second.names, second.remaining, second.version], ["c d", 1, first.version]);
  const third = await list(cluster, `limit=2&continue=${second.token}`);
  deepEqual([third.names, third.remaining, third.token, third.version], ["e", undefined, "", first.version]);
  equal((await list(cluster)).names, "a aa b d e f");
});

test("list: pages of a selection skip what it hides and tell no count", async () => {
  await using cluster = await startWith("a", "b", "c", "d", "e");
  const first = await list(cluster, "limit=2&labelSelector=odd%3D0");
  deepEqual([first.names, first.remaining], ["a c", undefined]);
  const second = await list(cluster, `limit=2&labelSelector=odd%3D0&continue=${first.token}`);
  deepEqual([second.names, second.token], ["e", ""]);
});

test("list: versions asked for", async () => {
  await using cluster = await startWith("a", "b");
  const { version } = await list(cluster);
  await ask(cluster, "POST", configMaps, configMap("c"));
  const now = await list(cluster);
  deepEqual(await list(cluster, `resourceVersion=${version}&resourceVersionMatch=Exact`), {
    status: 200,
    names: "a b",
    version,
    token: "",
    remaining: undefined,
  });
  deepEqual((await list(cluster, `resourceVersion=${version}&limit=1`)).names, "a");
  for (const query of [`resourceVersion=${version}`, "resourceVersion=0", `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`])
    deepEqual(await list(cluster, query), now, query);
  const future = await ask(cluster, "GET", `${configMaps}?resourceVersion=${Number(now.version) + 100}`);
  deepEqual([future.status, future.headers["retry-after"]], [504, "1"]);
  match(future.json["message"] as string, /^Timeout: Too large resource version: \d+, current: \d+$/);
});

test("list: forms", async () => {
  await using cluster = await startWith("a");
  const table = await ask(cluster, "GET", configMaps, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  const { kind, rows } = table.json as unknown as { kind: string; rows: { cells: unknown[]; object: KubeObject }[] };
  deepEqual([kind, rows[0]!.cells[0], rows[0]!.object["kind"]], ["Table", "a", "PartialObjectMetadata"]);
  const partial = await ask(cluster, "GET", configMaps, undefined, { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" });
  equal(partial.json["kind"], "PartialObjectMetadataList");
  match(
    (await ask(cluster, "GET", configMaps, undefined, { accept: "application/yaml" })).text,
    /^apiVersion: v1\nitems:\n- apiVersion: v1\n|^apiVersion: v1\nitems:\n- metadata:\n/,
  );
  const protobuf = await ask(cluster, "GET", configMaps, undefined, { accept: "application/vnd.kubernetes.protobuf" });
  equal(protobuf.text.slice(0, 4), "k8s\0");
  equal((await ask(cluster, "GET", configMaps, undefined, { accept: "text/html" })).status, 406);
  match((await ask(cluster, "GET", `${configMaps}?pretty=true`)).text, /^\{\n {2}"kind": "ConfigMapList",\n/);
});
