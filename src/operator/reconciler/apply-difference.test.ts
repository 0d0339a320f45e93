import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { resources } from "../../client/index.ts";
import { applyChildren, AppliedMemory, covers } from "./apply-difference.ts";
import { child } from "./desired.ts";
import { viewOf } from "./view.ts";

const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "o", namespace: "ns", uid: "u", resourceVersion: "1" } };
const owned = { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u", controller: true }] };
const secret = (name: string, rest: object = {}) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: "5", ...owned },
  ...rest,
});

function actionsFor(wanted: ReturnType<typeof child>[], live: ReturnType<typeof secret>[], memory = new AppliedMemory()) {
  const context = { owner: { resource: resources.configMaps, object: owner }, fieldManager: "op", view: viewOf(owner, live) } as const;
  return applyChildren(wanted, [resources.secrets], context as never, memory);
}

test("covers: members may be more, lists must be as long, what is undefined does not count", () => {
  const cases: [unknown, unknown, boolean][] = [
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: [1, 2] }, { a: [1] }, false],
    [{ a: [{ x: 1, y: 2 }] }, { a: [{ x: 1 }] }, true],
    [undefined, {}, false],
    [{ a: null }, { a: null }, true],
  ];
  for (const [live, wanted, expected] of cases) equal(covers(live, wanted), expected, JSON.stringify([live, wanted]));
});

test("what is not wanted any more is deleted, by uid; what is on its way out is left alone", () => {
  const leaving = secret("leaving", {});
  const actions = actionsFor([], [secret("a"), { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } as never }]);
  deepEqual(
    actions.map((action) => (action.kind === "delete" ? [action.name, action.options.preconditions?.uid] : action.kind)),
    [["a", "uid-a"]],
  );
});

test("an object that was applied is applied again only when it should differ, or somebody changed what matters", () => {
  const memory = new AppliedMemory();
  const wanted = [child(resources.secrets, { metadata: { name: "a" }, data: { k: "dg==" } })];
  const [first] = actionsFor(wanted, [], memory);
  if (first?.kind !== "patch") throw new Error("it is applied");
  first.onDone?.(secret("a"));
  equal(actionsFor(wanted, [secret("a")], memory).length, 0, "the version of the answer");
  const changed = (data: object) => [{ ...secret("a", { data }), metadata: { ...secret("a").metadata, resourceVersion: "6" } }];
  const applied = { ...(first.patch.body as { metadata: object }).metadata };
  equal(
    actionsFor(
      wanted,
      [
        {
          ...changed({ k: "dg==", more: "x" })[0]!,
          metadata: { ...applied, ...changed({})[0]!.metadata, ownerReferences: (applied as { ownerReferences: never }).ownerReferences },
        },
      ],
      memory,
    ).length,
    0,
    "more than is wanted",
  );
  equal(actionsFor(wanted, changed({ k: "other" }), memory).length, 1);
  equal(actionsFor([child(resources.secrets, { metadata: { name: "a" } })], [secret("a")], memory).length, 1, "less is wanted");
});

test("children that cannot be owned are a programmer's error", () => {
  throws(() => actionsFor([child(resources.pods, { metadata: { name: "p" } })], []), /pods is not among the kinds that the reconciler owns/);
  throws(() => actionsFor([child(resources.secrets, { metadata: { name: "a", namespace: "other" } })], []), /lives in the namespace of its owner/);
  throws(
    () => actionsFor([child(resources.secrets, { metadata: { name: "a" } })], [{ ...secret("a"), metadata: { ...secret("a").metadata, ownerReferences: [] } }]),
    { reason: "ChildConflict" },
  );
});

test("a guarded status is refused on another version, and what it was stored on does not make it another", () => {
  const memory = new AppliedMemory();
  const status = { resource: resources.configMaps as never, object: { ...owner, metadata: { name: "o", namespace: "ns" }, status: { term: 1 } } as never };
  const apply = (resourceVersion: string, isGuarded: boolean) =>
    memory.apply("ns/o", status, { ...owner, metadata: { ...owner.metadata, resourceVersion } }, { fieldManager: "op", subresource: "status", isGuarded });
  const versionOf = ([action]: ReturnType<typeof apply>) =>
    action?.kind === "patch" ? (action.patch.body as { metadata: { resourceVersion?: string } }).metadata.resourceVersion : action?.kind;
  equal(versionOf(apply("1", false)), undefined);
  const guarded = apply("1", true);
  equal(versionOf(guarded), "1");
  if (guarded[0]?.kind === "patch") guarded[0].onDone?.({ ...owner, metadata: { ...owner.metadata, resourceVersion: "2" } });
  deepEqual(apply("2", true), []);
});
