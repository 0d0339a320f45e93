import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planRequestAge } from "../podcertificaterequest-cleaner/controller.ts";
import { classesOfClaim } from "../volume-protection/attributes-class-controller.ts";
import { invalidSinceLabel, lastUsedLabel, planLegacyToken } from "./plan.ts";
import type { Secret } from "../../api/core-v1/types.ts";
import type { Plan } from "../../operator/index.ts";
import type { LegacyToken } from "./plan.ts";

const dayMs = 86_400_000;
const nowMs = Date.parse("2026-06-01T12:00:00Z");
const token = (labels: Record<string, string> = {}, more: Partial<LegacyToken> = {}): LegacyToken => ({
  secret: { metadata: { namespace: "default", name: "t", creationTimestamp: "2020-01-01T00:00:00Z", labels } },
  trackedSince: "2025-01-01",
  isGenerated: true,
  isMounted: false,
  periodMs: 100 * dayMs,
  ...more,
});
const shown = ({ actions, requeueAfterMs }: Plan) => [
  ...actions.map((action) => (action.kind === "patch" ? `labels ${JSON.stringify((action.patch.body as Secret).metadata.labels)}` : action.kind)),
  ...(requeueAfterMs === undefined ? [] : [`again in ${requeueAfterMs / dayMs} days`]),
];

const cases: { name: string; token: LegacyToken; expect: string[] }[] = [
  { name: "never used", token: token(), expect: [`labels {"${invalidSinceLabel}":"2026-06-01"}`, "again in 100 days"] },
  { name: "used lately", token: token({ [lastUsedLabel]: "2026-05-30" }), expect: ["again in 97.5 days"] },
  { name: "uses have not been noted for long enough", token: token({}, { trackedSince: "2026-05-30" }), expect: ["again in 97.5 days"] },
  { name: "uses are not noted", token: token({}, { trackedSince: undefined }), expect: [] },
  { name: "made by hand", token: token({}, { isGenerated: false }), expect: [] },
  { name: "mounted", token: token({}, { isMounted: true }), expect: [] },
  { name: "invalid for a while", token: token({ [invalidSinceLabel]: "2026-05-30" }), expect: ["again in 97.5 days"] },
  { name: "invalid and not missed", token: token({ [invalidSinceLabel]: "2026-01-01" }), expect: ["delete"] },
  { name: "a label that is no day counts as none", token: token({ [lastUsedLabel]: "yesterday", [invalidSinceLabel]: "2026-01-01" }), expect: ["delete"] },
];
for (const { name, token: given, expect } of cases) test(`legacy tokens: ${name}`, () => deepEqual(shown(planLegacyToken(given, nowMs)), expect));

test("pod certificate requests: kept for 15 minutes", () => {
  const made = (creationTimestamp: string) => ({ metadata: { namespace: "n", name: "r", creationTimestamp } }) as Parameters<typeof planRequestAge>[0];
  deepEqual(planRequestAge(made("2026-06-01T11:46:00Z"), nowMs), { actions: [], requeueAfterMs: 60_000 });
  deepEqual(shown(planRequestAge(made("2026-06-01T11:45:00Z"), nowMs)), ["delete"]);
});

test("volume attributes classes: those a claim wants, has, and is being changed to", () => {
  const status = { currentVolumeAttributesClassName: "old", modifyVolumeStatus: { status: "InProgress", targetVolumeAttributesClassName: "new" } };
  deepEqual(classesOfClaim({ metadata: { name: "c" }, spec: { volumeAttributesClassName: "new" }, status }), ["new", "old"]);
  deepEqual(classesOfClaim({ metadata: { name: "c" } }), []);
});
