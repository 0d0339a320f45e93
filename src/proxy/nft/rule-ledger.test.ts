import assert from "node:assert/strict";
import { test } from "node:test";
import type { Service } from "../../api/core-v1/types.ts";
import { planService } from "../plan.ts";
import { endpointSlice } from "../testing-objects.ts";
import { RuleLedger } from "./rule-ledger.ts";
import { ruleUnits } from "./rule-units.ts";

function ledger() {
  const rules = new RuleLedger({ table: "t", family: "IPv4", podCidrs: ["10.244.0.0/16"] });
  const put = (name: string, spec: Service["spec"], ...addresses: string[]) => {
    const service = { metadata: { namespace: "d", name }, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }], ...spec } };
    const plan = planService(
      service,
      [
        endpointSlice(
          addresses.map((address) => ({ address, nodeName: "other" })),
          8080,
        ),
      ],
      { nodeName: "n1" },
    )!;
    rules.put(plan.name, ruleUnits(plan, "IPv4"));
  };
  return {
    rules,
    put,
    taken: () =>
      rules
        .takeChanges()
        .split("\n")
        .filter((line) => line !== ""),
  };
}

test("ledger: one transaction for each change, with nothing but what differs", () => {
  const { rules, put, taken } = ledger();
  put("a", {}, "10.244.1.1", "10.244.1.2");
  assert.deepEqual(taken(), [
    "add element ip t cluster-ips { 10.0.0.1 }",
    "add element ip t service-ips { 10.0.0.1 . tcp . 80 : goto pick-ip-2 }",
    "add element ip t service-backends { 10.0.0.1 . tcp . 80 . 0 : 10.244.1.1 . 8080, 10.0.0.1 . tcp . 80 . 1 : 10.244.1.2 . 8080 }",
  ]);
  put("a", {}, "10.244.1.1", "10.244.1.2");
  assert.deepEqual(taken(), []);
  put("a", {}, "10.244.1.1", "10.244.1.3");
  assert.deepEqual(taken(), [
    "delete element ip t service-backends { 10.0.0.1 . tcp . 80 . 1 : 10.244.1.2 . 8080 }",
    "add element ip t service-backends { 10.0.0.1 . tcp . 80 . 1 : 10.244.1.3 . 8080 }",
  ]);
  put("a", {});
  assert.deepEqual(taken(), [
    "delete element ip t service-ips { 10.0.0.1 . tcp . 80 : goto pick-ip-2 }",
    "delete element ip t service-backends { 10.0.0.1 . tcp . 80 . 0 : 10.244.1.1 . 8080, 10.0.0.1 . tcp . 80 . 1 : 10.244.1.3 . 8080 }",
    "add element ip t no-backend-ips { 10.0.0.1 . tcp . 80 : goto reject-now }",
  ]);
  rules.put("d/a", []);
  assert.deepEqual(taken(), ["delete element ip t cluster-ips { 10.0.0.1 }", "delete element ip t no-backend-ips { 10.0.0.1 . tcp . 80 : goto reject-now }"]);
});

test("ledger: session affinity keeps the sets of backends that stay", () => {
  const { put, taken } = ledger();
  put("a", { sessionAffinity: "ClientIP" }, "10.244.1.1", "10.244.1.2");
  const first = taken();
  assert.equal(first.filter((line) => line.startsWith("add set")).length, 2);
  put("a", { sessionAffinity: "ClientIP" }, "10.244.1.1", "10.244.1.3");
  const second = taken();
  assert.equal(second.filter((line) => line.startsWith("add set")).length, 1);
  assert.equal(second.filter((line) => line.startsWith("delete set")).length, 1);
  assert.equal(second.filter((line) => line.includes("service-ips")).length, 0);
});

test("ledger: an address that two Services ask for belongs to the first until it lets go", () => {
  const { rules, put, taken } = ledger();
  put("a", { externalIPs: ["192.0.2.1"] }, "10.244.1.1");
  put("b", { clusterIP: "10.0.0.2", externalIPs: ["192.0.2.1"] }, "10.244.1.2");
  assert.deepEqual(rules.conflictsOf("d/b"), [["service-ips 192.0.2.1 . tcp . 80", "d/a"]]);
  assert.ok(!taken().join("\n").includes("192.0.2.1 . tcp . 80 . 0 : 10.244.1.2"));
  rules.put("d/a", []);
  assert.ok(taken().includes("add element ip t service-backends { 192.0.2.1 . tcp . 80 . 0 : 10.244.1.2 . 8080 }"));
});

test("ledger: the whole table anew holds what the changes led to", () => {
  const { rules, put, taken } = ledger();
  put("a", {}, "10.244.1.1");
  taken();
  put("a", {}, "10.244.1.2");
  rules.setServiceCidrs(["10.0.0.0/16", "fd00::/108"]);
  const all = rules.takeAll();
  assert.match(all, /^add table ip t\ndelete table ip t\ntable ip t \{/);
  assert.match(all, /add element ip t service-cidrs \{ 10\.0\.0\.0\/16 \}/);
  assert.match(all, /service-backends \{ 10\.0\.0\.1 \. tcp \. 80 \. 0 : 10\.244\.1\.2 \. 8080 \}/);
  assert.deepEqual(taken(), []);
});

test("units: more backends than the shared chains know get a chain of their own", () => {
  const { put, taken } = ledger();
  put("a", {}, ...Array.from({ length: 40 }, (_, index) => `10.244.1.${index + 1}`));
  const lines = taken();
  assert.ok(lines.some((line) => /^add rule ip t service-[0-9a-f]{16} meta l4proto tcp dnat ip to numgen random mod 40 map/.test(line)));
  assert.ok(!lines.some((line) => line.includes("service-backends")));
});
