import { test } from "node:test";
import { deepEqual, ok } from "node:assert/strict";
import { StatusError } from "../../apimachinery/status.ts";
import { resources } from "../../client/index.ts";
import { createRevision } from "./revisions.ts";
import type { ControllerRevision } from "../../api/apps-v1/types.ts";
import type { CreateAction } from "../../operator/index.ts";
import type { History } from "./revisions.ts";

const owner = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "web", namespace: "x", uid: "s" } };
const history: History = {
  owner,
  ownerResource: resources.statefulSets,
  template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "a:1" }] } },
  revisions: [],
  collisionCount: undefined,
  namesake: () => undefined,
  hashLabel: "hash",
};
const wanted = (createRevision(history, () => []) as CreateAction).object as ControllerRevision;

const takers: { name: string; taker: ControllerRevision | undefined; isCounted: boolean }[] = [
  { name: "nobody that the cache shows: it may be our own, whose answer was lost", taker: undefined, isCounted: false },
  { name: "our own of the same template", taker: wanted, isCounted: false },
  { name: "our own of another template", taker: { ...wanted, data: { spec: {} } as NonNullable<ControllerRevision["data"]> }, isCounted: true },
  { name: "a stranger", taker: { ...wanted, metadata: { name: wanted.metadata.name ?? "", namespace: "x" } }, isCounted: true },
];
for (const { name, taker, isCounted } of takers) {
  test(`revisions: the name is taken by ${name}`, () => {
    const counted = { kind: "event", regarding: { name: "counted" }, event: { type: "Normal", reason: "", message: "" } } as const;
    const { onError } = createRevision({ ...history, namesake: () => taker }, () => [counted]) as CreateAction;
    ok(typeof onError === "function");
    const { severity, actions = [] } = onError(new StatusError({ message: "taken", reason: "AlreadyExists", code: 409 }));
    deepEqual([severity, actions], ["stop", isCounted ? [counted] : []]);
  });
}
