import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { ignoreRace, simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ConfigMap } from "../../api/core-v1/types.ts";

const policies = ["Background", "Foreground", "Orphan"] as const;

// Between its look at an object and its deletion there is time for others.
const setting = { controllers: ["garbage-collector-controller"], rates: { delay: 0.4 }, steps: 16, pauseMs: 8000 };

/** Families of objects with one owner or two, of which some are deleted in each way while others take their dependents up: nothing is left whose owners are gone, nothing goes that has one. */
simulate("no orphan stays and nothing owned goes", setting, ({ cluster, client, random, state }) => {
  const all = () => state.of<ConfigMap>("ConfigMap").filter(({ metadata }) => metadata.namespace === "default");
  const killed = new Set<string>();
  let born = 0;
  const create = (owners: readonly DeepReadonly<ConfigMap>[]) =>
    client.create(resources.configMaps, { metadata: { namespace: "default", name: `c${++born}`, ownerReferences: references(owners) } });
  const references = (owners: readonly DeepReadonly<ConfigMap>[]) =>
    owners.map(({ metadata: { name = "", uid = "" } }) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: random.integer(2) === 0 }));
  /** Others take up what an owner leaves behind, at any time in the seconds after it was deleted. */
  const adopt = async (left: DeepReadonly<ConfigMap>) => {
    const dependents = all().filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === left.metadata.uid));
    for (const { metadata } of dependents) {
      await cluster.advance(random.integer(2000));
      const heir = await create([]);
      const body = {
        metadata: {
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
          ownerReferences: [...(metadata.ownerReferences ?? []), ...references([heir])],
        },
      };
      await client.patch(resources.configMaps, "default", metadata.name ?? "", { type: "merge", body }).catch(ignoreRace);
    }
  };
  const hasOwner = ({ metadata }: DeepReadonly<ConfigMap>) => {
    const uids = new Set(all().map((one) => one.metadata.uid));
    return metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) === true;
  };
  return {
    async arrange() {
      await create([]);
      await create([]);
    },
    async step() {
      const [first, second] = [someOf(random, all()), someOf(random, all())];
      const choice = random.integer(4);
      if (choice === 0 && first !== undefined) {
        const propagationPolicy = someOf(random, policies)!;
        killed.add(first.metadata.uid ?? "");
        await client.delete(resources.configMaps, "default", first.metadata.name ?? "", { propagationPolicy });
        await adopt(first);
      } else if (choice === 1) await create([]);
      else await create([...new Set([first, second])].filter((one) => one !== undefined));
    },
    check({ kind, object, old }) {
      if (kind !== "ConfigMap" || old === undefined || old.metadata.namespace !== "default" || killed.has(old.metadata.uid ?? "")) return;
      // What was on its way out before another took it up goes all the same.
      if (old.metadata.deletionTimestamp !== undefined) return;
      const isGoing = object === undefined || (object.metadata.deletionTimestamp !== undefined && old.metadata.deletionTimestamp === undefined);
      const live = all().filter(({ metadata }) => metadata.deletionTimestamp === undefined || !(metadata.finalizers ?? []).includes("foregroundDeletion"));
      const kept = new Set(object?.metadata.ownerReferences?.map(({ uid }) => uid));
      const left = live.find(
        ({ metadata: { uid } }) => !killed.has(uid ?? "") && old.metadata.ownerReferences?.some((one) => one.uid === uid) && !kept.has(uid ?? ""),
      );
      assert.equal(left?.metadata.name, undefined, "no reference to an owner goes while it is there");
      if (!isGoing) return;
      const owner = live.find((one) => old.metadata.ownerReferences?.some(({ uid }) => uid === one.metadata.uid));
      assert.equal(owner?.metadata.name, undefined, "no owner is there");
      assert.notEqual(old.metadata.ownerReferences ?? [], [], "it had owners");
    },
    async reached() {
      for (const one of all()) {
        assert.ok((one.metadata.ownerReferences ?? []).length === 0 || hasOwner(one), `${one.metadata.name} has an owner`);
        assert.equal(one.metadata.deletionTimestamp, undefined, `${one.metadata.name} is not on its way out`);
      }
    },
  };
});
