import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { ignoreRace, simulate } from "../../testing/simulation/simulate.ts";
import { claimsOfPod } from "./plan.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";

const isProtected = (object: DeepReadonly<KubeObject> | undefined) => (object?.metadata.finalizers ?? []).includes("kubernetes.io/pvc-protection");

/** Claims are deleted while pods use them or do not: none goes while one runs that uses it, all go that none uses. */
simulate(
  "a claim goes when no pod uses it any more",
  { controllers: ["persistentvolumeclaim-protection-controller"], steps: 16 },
  ({ cluster, client, random, state }) => {
    let born = 0;
    const replaced = new Set<string>();
    const pods = () => state.of<Pod>("Pod");
    const claims = () => state.of<PersistentVolumeClaim>("PersistentVolumeClaim");
    const isUsed = (name: string | undefined) => pods().some((pod) => claimsOfPod(pod).includes(`default/${name}`));
    const createClaim = async (name = `c${++born}`) => {
      const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
      await client.create(resources.persistentVolumeClaims, { metadata: { namespace: "default", name }, spec });
    };
    /** By others, who take the protection off and put a new one in its place. */
    const replace = async (name: string) => {
      replaced.add(name);
      await client.delete(resources.persistentVolumeClaims, "default", name);
      await cluster.advance(random.integer(3000));
      await client.patch(resources.persistentVolumeClaims, "default", name, { type: "merge", body: { metadata: { finalizers: null } } }).catch(ignoreRace);
      await createClaim(name);
      replaced.delete(name);
    };
    return {
      arrange: () => createClaim(),
      async step() {
        const claim = someOf(random, claims())?.metadata.name;
        const pod = someOf(random, pods())?.metadata.name;
        const choice = random.integer(6);
        if (choice <= 1 && claim !== undefined) {
          const volumes = [{ name: "x", persistentVolumeClaim: { claimName: claim } }];
          return client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born}` }, spec: { ...podTemplate("a:1").spec!, volumes } });
        }
        if (choice === 2 && claim !== undefined) return client.delete(resources.persistentVolumeClaims, "default", claim);
        if (choice === 3 && pod !== undefined) return client.delete(resources.pods, "default", pod);
        if (choice === 5 && claim !== undefined) return replace(claim);
        return createClaim();
      },
      check({ kind, object, old }) {
        if (kind !== "PersistentVolumeClaim" || replaced.has(old?.metadata.name ?? "")) return;
        if (object === undefined) assert.ok(!isUsed(old?.metadata.name), `${old?.metadata.name} is not used`);
        else if (object.metadata.deletionTimestamp === undefined) assert.ok(isProtected(object) || !isProtected(old), "protection stays until it is deleted");
      },
      async reached() {
        for (const { metadata } of claims()) assert.ok(metadata.deletionTimestamp === undefined || isUsed(metadata.name), `${metadata.name} is wanted`);
      },
    };
  },
);

/** Volumes are bound, released and deleted: none goes while it is bound, all go that are not. */
simulate(
  "a volume goes when it is not bound any more",
  { controllers: ["persistentvolume-protection-controller"], nodes: [], steps: 16 },
  ({ client, random, state }) => {
    let born = 0;
    const volumes = () => state.of<PersistentVolume>("PersistentVolume");
    const create = () => {
      const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
      return client.create(resources.persistentVolumes, { metadata: { name: `v${++born}` }, spec });
    };
    return {
      arrange: create,
      async step() {
        const name = someOf(random, volumes())?.metadata.name;
        const choice = random.integer(4);
        if (choice === 0 || name === undefined) return create();
        if (choice === 1) return client.delete(resources.persistentVolumes, "", name);
        const phase = choice === 2 ? "Bound" : "Released";
        return client.patch(resources.persistentVolumes, "", name, { type: "merge", subresource: "status", body: { status: { phase } } });
      },
      check({ kind, object, old }) {
        if (kind !== "PersistentVolume" || object !== undefined) return;
        const { metadata, status } = old as PersistentVolume;
        // One that nobody had put under protection yet goes at once.
        if (metadata.finalizers !== undefined) assert.notEqual(status?.phase, "Bound");
      },
      async reached() {
        for (const { metadata, status } of volumes()) {
          assert.ok(metadata.deletionTimestamp === undefined || status?.phase === "Bound", `${metadata.name} is wanted`);
          if (metadata.deletionTimestamp === undefined) assert.deepEqual(metadata.finalizers, ["kubernetes.io/pv-protection"]);
        }
      },
    };
  },
);
