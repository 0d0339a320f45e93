import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { nextSteps } from "./steps.ts";
import type { StatefulSet, StatefulSetSpec } from "../../api/apps-v1/types.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Action } from "../../operator/index.ts";

const nowMs = Date.UTC(2026, 0, 1);
const revision = (name: string) => ({ metadata: { name }, data: { spec: { template: { metadata: { labels: { r: name } } } } }, revision: 1 });
const set = (spec: Partial<StatefulSetSpec>): StatefulSet => ({
  metadata: { name: "db", namespace: "x", uid: "s" },
  spec: { replicas: 3, template: {}, serviceName: "db", updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } }, ...spec },
});
/** `2n+`: ordinal 2 of the new revision, up; `1o-`: ordinal 1 of the old one, not ready; `x` leaves, `!` has failed. */
function podOf(text: string): Pod {
  const [, ordinal = "", letter = "", state = ""] = /^(\d+)([no])(.)$/.exec(text)!;
  const name = `db-${ordinal}`;
  return {
    metadata: {
      name,
      namespace: "x",
      labels: {
        "controller-revision-hash": letter === "n" ? "new" : "old",
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": ordinal,
      },
      ...(state === "x" && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    status: {
      phase: state === "!" ? "Failed" : "Running",
      conditions: state === "+" ? [{ type: "Ready", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" }] : [],
    },
  };
}
const summary = (action: Action) =>
  action.kind === "create"
    ? `create ${action.object.metadata.name} ${action.object.metadata.labels?.["r"]}`
    : `${action.kind} ${"name" in action ? action.name : ""}`;

const parallel = { podManagementPolicy: "Parallel" };
const cases: { name: string; spec?: Partial<StatefulSetSpec>; pods: string; expect: string[] }[] = [
  { name: "the first comes first", pods: "", expect: ["create db-0 new"] },
  { name: "the next waits for the one before", pods: "0n-", expect: [] },
  { name: "the next", pods: "0n+", expect: ["create db-1 new"] },
  { name: "all at once", spec: parallel, pods: "1n-", expect: ["create db-0 new", "create db-2 new"] },
  { name: "a failed one is made again", pods: "0n! 1n+", expect: ["delete db-0"] },
  { name: "one that leaves is waited for", pods: "0n+ 1nx 2n+", expect: [] },
  { name: "the highest goes first", spec: { replicas: 1 }, pods: "0n+ 1n+ 2n+", expect: ["delete db-2"] },
  { name: "not beside a broken one", spec: { replicas: 1 }, pods: "0n+ 1n- 2n+", expect: ["delete db-2"] },
  { name: "a broken one above waits for one below", spec: { replicas: 2 }, pods: "0n+ 1n- 2n-", expect: [] },
  { name: "all that are too many", spec: { ...parallel, replicas: 1 }, pods: "0n+ 1n+ 2n+", expect: ["delete db-2", "delete db-1"] },
  { name: "a rollout begins at the top", pods: "0o+ 1o+ 2o+", expect: ["delete db-2"] },
  { name: "a rollout goes on", pods: "0o+ 1o+ 2n+", expect: ["delete db-1"] },
  { name: "a rollout waits", pods: "0o+ 1o+ 2n-", expect: [] },
  {
    name: "a rollout stops at the partition",
    spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } },
    pods: "0o+ 1o+ 2n+",
    expect: [],
  },
  {
    name: "below the partition old ones come back",
    spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } },
    pods: "1o+ 2n+",
    expect: ["create db-0 old"],
  },
  {
    name: "several may be down",
    spec: { ...parallel, updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0, maxUnavailable: 2 } } },
    pods: "0o+ 1o+ 2o+",
    expect: ["delete db-2", "delete db-1"],
  },
  { name: "on delete nothing rolls", spec: { updateStrategy: { type: "OnDelete" } }, pods: "0o+ 1o+ 2o+", expect: [] },
  { name: "ordinals begin elsewhere", spec: { ordinals: { start: 5 }, replicas: 1 }, pods: "", expect: ["create db-5 new"] },
];
for (const { name, spec = {}, pods, expect } of cases) {
  test(`stateful set: ${name}`, () => {
    const actions = nextSteps({
      set: set(spec),
      pods: pods
        .split(" ")
        .filter((text) => text !== "")
        .map(podOf),
      claims: new Map(),
      current: revision("old"),
      update: revision("new"),
      nowMs,
    });
    deepEqual(actions.map(summary), expect);
  });
}
