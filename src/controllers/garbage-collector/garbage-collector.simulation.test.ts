import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ConfigMap } from "../../api/core-v1/types.ts";

const policies = ["Background", "Foreground", "Orphan"] as const;

/** Families of objects with one owner or two, of which some are deleted in each way: nothing is left whose owners are gone, nothing goes that has one. */
simulate("no orphan stays and nothing owned goes", { controllers: ["garbage-collector-controller"], steps: 16, pauseMs: 8000 }, ({ client, random, state }) => {
  const all = () => state.of<ConfigMap>("ConfigMap").filter(({ metadata }) => metadata.namespace === "default");
  const killed = new Set<string>();
  let born = 0;
  const create = (owners: readonly DeepReadonly<ConfigMap>[]) => {
    const ownerReferences = owners.map(({ metadata: { name = "", uid = "" } }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name,
      uid,
      blockOwnerDeletion: random.integer(2) === 0,
    }));
    return client.create(resources.configMaps, { metadata: { namespace: "default", name: `c${++born}`, ownerReferences } });
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
        killed.add(first.metadata.uid ?? "");
        await client.delete(resources.configMaps, "default", first.metadata.name ?? "", { propagationPolicy: someOf(random, policies)! });
      } else if (choice === 1) await create([]);
      else await create([...new Set([first, second])].filter((one) => one !== undefined));
    },
    check({ kind, object, old }) {
      if (kind !== "ConfigMap" || old === undefined || old.metadata.namespace !== "default" || killed.has(old.metadata.uid ?? "")) return;
      const isGoing = object === undefined || (object.metadata.deletionTimestamp !== undefined && old.metadata.deletionTimestamp === undefined);
      if (!isGoing) return;
      const live = all().filter(({ metadata }) => metadata.deletionTimestamp === undefined || !(metadata.finalizers ?? []).includes("foregroundDeletion"));
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
