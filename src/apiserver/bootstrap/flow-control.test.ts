import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ask } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { planFlowObjects } from "./flow-control.ts";

const spec = (matchingPrecedence: number) => ({ priorityLevelConfiguration: { name: "l" }, matchingPrecedence });
const schema = (name: string, precedence: number, mark: string | undefined, generation = 1) =>
  ({
    kind: "FlowSchema",
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    metadata: { name, generation, ...(mark !== undefined && { annotations: { "apf.kubernetes.io/autoupdate-spec": mark } }) },
    spec: spec(precedence),
  }) as KubeObject;

test("objects of flow control: whose they are", () => {
  const suggested = [{ name: "s", spec: spec(1) }];
  const table: [say: string, existing: KubeObject[], changes: object[]][] = [
    ["missing", [], [{ act: "create", name: "s", spec: spec(1) }]],
    ["as it should be", [schema("s", 1, "true")], []],
    ["changed, and ours", [schema("s", 2, "true", 2)], [{ act: "restore", name: "s", spec: spec(1) }]],
    ["changed, and theirs", [schema("s", 2, "false", 2)], []],
    ["never changed, of an older version", [schema("s", 2, undefined)], [{ act: "restore", name: "s", spec: spec(1) }]],
    ["changed before there were marks", [schema("s", 2, undefined, 2)], [{ act: "annotate", name: "s", isOurs: false }]],
    ["unmarked", [schema("s", 1, undefined)], [{ act: "annotate", name: "s", isOurs: true }]],
    ["no longer suggested", [schema("s", 1, "true"), schema("old", 1, "true"), schema("mine", 1, undefined)], [{ act: "delete", name: "old" }]],
  ];
  for (const [say, existing, changes] of table)
    deepEqual(planFlowObjects("FlowSchema", new Map(existing.map((object) => [object.metadata.name!, object])), suggested), changes, say);
  const exempt = { name: "exempt", spec: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } } };
  const changed = {
    ...schema("exempt", 0, "true", 2),
    spec: { type: "Exempt", exempt: { nominalConcurrencyShares: 5, lendablePercent: 1 } },
  } as unknown as KubeObject;
  deepEqual(
    planFlowObjects("PriorityLevelConfiguration", new Map([["exempt", changed]]), [exempt]),
    [],
    "the shares of the exempt level are the administrator's",
  );
});

test("objects of flow control: what is deleted comes back within a minute", async () => {
  await using cluster = await TestCluster.start();
  const path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all";
  await ask(cluster, "DELETE", path);
  equal((await ask(cluster, "GET", path)).status, 404);
  await cluster.advance(60_000);
  equal((await ask(cluster, "GET", path)).status, 200);
});
