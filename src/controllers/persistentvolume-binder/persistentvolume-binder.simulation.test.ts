import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/core-v1/types.ts";

const setting = { controllers: ["persistentvolume-binder-controller"], nodes: [], steps: 16, pauseMs: 10_000 };
const sizes = ["1Gi", "2Gi", "4Gi"];
const sizeOf = (text: string | number | undefined) => Number.parseInt(String(text ?? 0), 10);

/** Volumes and claims come and go: what is bound is bound to each other and large enough, no volume serves two, and none waits beside one that would do. */
simulate("claims and volumes are bound to each other", setting, ({ cluster, client, random, state }) => {
  let born = 0;
  const volumes = () => state.of<PersistentVolume>("PersistentVolume");
  const claims = () => state.of<PersistentVolumeClaim>("PersistentVolumeClaim");
  const holderOf = ({ spec }: DeepReadonly<PersistentVolume>) => claims().find(({ metadata }) => metadata.uid === spec?.claimRef?.uid);
  const spec = () => ({ accessModes: ["ReadWriteOnce"], storageClassName: "" });
  const createVolume = () =>
    client.create(resources.persistentVolumes, {
      metadata: { name: `v${++born}` },
      spec: { ...spec(), capacity: { storage: someOf(random, sizes)! }, hostPath: { path: "/x" }, persistentVolumeReclaimPolicy: "Retain" },
    });
  const createClaim = (name = `c${++born}`) =>
    client.create(resources.persistentVolumeClaims, {
      metadata: { namespace: "default", name },
      spec: { ...spec(), resources: { requests: { storage: someOf(random, sizes)! } } },
    });
  /** Protection is another controller's. */
  const deleteClaim = async (name: string) => {
    await client.delete(resources.persistentVolumeClaims, "default", name);
    await client.patch(resources.persistentVolumeClaims, "default", name, { type: "merge", body: { metadata: { finalizers: null } } });
  };
  return {
    async arrange() {
      await createVolume();
      await createClaim();
    },
    async step() {
      const claim = someOf(random, claims())?.metadata.name;
      const volume = someOf(random, volumes())?.metadata.name;
      const choice = random.integer(6);
      if (choice === 0 && volume !== undefined) return client.delete(resources.persistentVolumes, "", volume);
      if (choice === 1 && claim !== undefined) return deleteClaim(claim);
      if (choice === 2 && claim !== undefined) {
        await deleteClaim(claim);
        return createClaim(claim);
      }
      return choice < 5 ? createVolume() : createClaim();
    },
    check({ kind }) {
      if (kind !== "PersistentVolumeClaim") return;
      const bound = claims().filter(({ status }) => status?.phase === "Bound");
      const named = bound.map(({ spec: wanted }) => wanted?.volumeName);
      assert.equal(new Set(named).size, named.length, `bound to ${named.join(" ")}`);
    },
    settle: () => cluster.advance(300_000),
    async reached() {
      for (const claim of claims()) {
        const volume = volumes().find(({ metadata }) => metadata.name === claim.spec?.volumeName);
        if (claim.status?.phase === "Bound") {
          assert.equal(volume?.spec?.claimRef?.uid, claim.metadata.uid, `${claim.metadata.name} has its volume`);
          assert.equal(volume?.status?.phase, "Bound");
          assert.ok(sizeOf(volume?.spec?.capacity?.["storage"]) >= sizeOf(claim.spec?.resources?.requests?.["storage"]), "large enough");
          continue;
        }
        assert.equal(claim.status?.phase, volume === undefined && claim.spec?.volumeName !== undefined ? "Lost" : "Pending", `${claim.metadata.name}`);
        const free = volumes().filter((one) => one.spec?.claimRef === undefined && one.metadata.deletionTimestamp === undefined);
        const fits = free.find((one) => sizeOf(one.spec?.capacity?.["storage"]) >= sizeOf(claim.spec?.resources?.requests?.["storage"]));
        if (claim.status?.phase === "Pending") assert.equal(fits?.metadata.name, undefined, `nothing is free for ${claim.metadata.name}`);
      }
      for (const volume of volumes()) {
        const wanted = volume.spec?.claimRef === undefined ? "Available" : holderOf(volume) === undefined ? "Released" : "Bound";
        assert.equal(volume.status?.phase, wanted, `${volume.metadata.name}`);
      }
    },
  };
});
