import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlowSchema, FlowSchemaCondition } from "../../api/flowcontrol-v1/types.ts";
import { danglingCondition } from "./dangling.ts";

const [before, now] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
const levels = new Set(["here"]);
const found = (level: string, time: string): FlowSchemaCondition => ({
  type: "Dangling",
  status: "False",
  lastTransitionTime: time,
  reason: "Found",
  message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`,
});
const missing = (level: string, time: string): FlowSchemaCondition => ({
  type: "Dangling",
  status: "True",
  lastTransitionTime: time,
  reason: "NotFound",
  message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" but there is no such object`,
});

test("a schema dangles while its level is not there", () => {
  const table: [level: string, current: FlowSchemaCondition | undefined, wanted: FlowSchemaCondition | undefined][] = [
    ["here", undefined, found("here", now)],
    ["gone", undefined, missing("gone", now)],
    ["here", found("here", before), undefined],
    ["here", missing("here", before), found("here", now)],
    ["gone", missing("lost", before), missing("gone", before)],
  ];
  for (const [level, current, wanted] of table) {
    const schema = {
      metadata: { name: "s" },
      spec: { priorityLevelConfiguration: { name: level } },
      ...(current !== undefined && { status: { conditions: [current] } }),
    } as FlowSchema;
    assert.deepEqual(danglingCondition(schema, levels, now), wanted);
  }
});
