import { test } from "node:test";
import { equal } from "node:assert/strict";
import { planExpansion } from "./controller.ts";

const cases: [name: string, phase: string, request: string, has: string, events: number][] = [
  ["asks for more", "Bound", "2Gi", "1Gi", 1],
  ["has enough", "Bound", "1Gi", "1Gi", 0],
  ["has no volume", "Pending", "2Gi", "1Gi", 0],
];
for (const [name, phase, storage, has, events] of cases) {
  test(`expansion: ${name}`, () => {
    const plan = planExpansion({
      metadata: { name: "c" },
      spec: { volumeName: "v", resources: { requests: { storage } } },
      status: { phase, capacity: { storage: has } },
    });
    equal(plan.actions.length, events);
  });
}
