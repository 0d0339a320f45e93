import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec, ResourceQuota } from "../../../api/core-v1/types.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { chargeQuotas } from "./charge.ts";
import type { Charge } from "./charge.ts";
import { evaluatorFor } from "./usage.ts";

const quota = (hard: Record<string, string>, used: Record<string, string>, spec: ResourceQuota["spec"] = {}): ResourceQuota => ({
  metadata: { name: "q" },
  spec,
  status: { hard, used },
});
const charge = (group: string, resource: string, object: object, oldObject?: object): Charge => ({
  resource: `${group}/${resource}`,
  evaluator: evaluatorFor(group, resource)!,
  object: object as KubeObject,
  oldObject: oldObject as KubeObject | undefined,
  mustBeCovered: () => [],
});
const pod = (spec: PodSpec) => ({ metadata: {}, spec });
const container = (cpu: string) => ({ name: "c", resources: { requests: { cpu } } });

test("charges and refusals", () => {
  const table: [charge: Charge, quota: ResourceQuota, expected: string | Record<string, string>][] = [
    [charge("", "configmaps", { metadata: {} }), quota({ "count/configmaps": "2" }, { "count/configmaps": "1" }), { "count/configmaps": "2" }],
    [
      charge("", "configmaps", { metadata: {} }),
      quota({ configmaps: "1" }, { configmaps: "1" }),
      "exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1",
    ],
    [charge("", "configmaps", { metadata: {} }), quota({ configmaps: "1" }, {}), "status unknown for quota: q, resources: configmaps"],
    [charge("", "configmaps", { metadata: {} }), quota({ pods: "1" }, {}), {}],
    [
      charge("", "pods", pod({ containers: [{ name: "c" }] })),
      quota({ "requests.cpu": "1" }, { "requests.cpu": "0" }),
      "failed quota: q: must specify requests.cpu for: c",
    ],
    [
      charge("", "pods", pod({ containers: [container("600m")] })),
      quota({ cpu: "1" }, { cpu: "600m" }),
      "exceeded quota: q, requested: cpu=600m, used: cpu=600m, limited: cpu=1",
    ],
    [
      charge("", "pods", pod({ containers: [container("700m")] }), pod({ containers: [container("600m")] })),
      quota({ cpu: "1" }, { cpu: "600m" }),
      { cpu: "700m" },
    ],
    [charge("", "pods", pod({ containers: [container("100m")] }), pod({ containers: [container("600m")] })), quota({ cpu: "1" }, { cpu: "600m" }), {}],
    [charge("", "pods", pod({ containers: [container("1")] })), quota({ pods: "0" }, { pods: "0" }, { scopes: ["BestEffort"] }), {}],
    [
      charge("", "services", { metadata: {}, spec: { type: "NodePort", ports: [{}, {}] } }),
      quota({ "services.nodeports": "1" }, { "services.nodeports": "0" }),
      "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1",
    ],
    [
      charge("example.com", "things", { metadata: {} }),
      quota({ "count/things.example.com": "5" }, { "count/things.example.com": "0" }),
      { "count/things.example.com": "1" },
    ],
  ];
  for (const [asked, limit, expected] of table) {
    const result = chargeQuotas(asked, [limit], new Map());
    assert.deepEqual("refused" in result ? result.refused : (result.used.get("q") ?? {}), expected);
  }
});

test("later requests of a batch see what earlier ones took", () => {
  const limit = quota({ configmaps: "2" }, { configmaps: "0" });
  const result = chargeQuotas(charge("", "configmaps", { metadata: {} }), [limit], new Map([["q", { configmaps: "2" }]]));
  assert.equal("refused" in result, true);
});
