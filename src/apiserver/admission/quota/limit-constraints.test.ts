import assert from "node:assert/strict";
import { test } from "node:test";
import { amountsOf } from "../pods/pod-resources.ts";
import { atLeast, atMost, ratioAtMost } from "./limit-constraints.ts";

const asked = (requests: Record<string, string>, limits: Record<string, string>) => ({
  requests: amountsOf({ requests }, "requests"),
  limits: amountsOf({ limits }, "limits"),
});

test("bounds and how exceeding them is told", () => {
  const table: [told: string | undefined, expected: string | undefined][] = [
    [atLeast("Container", "cpu", "50m", asked({ cpu: "10m" }, {})), "minimum cpu usage per Container is 50m, but request is 10m"],
    [atLeast("Pod", "cpu", "50m", asked({}, {})), "minimum cpu usage per Pod is 50m.  No request is specified"],
    [atMost("Container", "cpu", "1", asked({}, { cpu: "2" })), "maximum cpu usage per Container is 1, but limit is 2"],
    [atMost("Container", "cpu", "1", asked({}, {})), "maximum cpu usage per Container is 1.  No limit is specified"],
    [atMost("Container", "cpu", "1", asked({ cpu: "1" }, { cpu: "1" })), undefined],
    [
      ratioAtMost("Container", "cpu", "10", asked({ cpu: "50m" }, { cpu: "1" })),
      "cpu max limit to request ratio per Container is 10, but provided ratio is 20.000000",
    ],
    [
      ratioAtMost("Container", "cpu", "10", asked({ cpu: "0" }, { cpu: "1" })),
      "cpu max limit to request ratio per Container is 10, but no request is specified or request is 0",
    ],
  ];
  for (const [told, expected] of table) assert.equal(told, expected);
});
