import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/core-v1/types.ts";

const setting = { controllers: ["ephemeral-volume-controller", "garbage-collector-controller"], steps: 14 };

/** Pods with ephemeral volumes come and go, their claims are deleted: each pod ends with a claim of its own, and no claim outlives its pod. */
simulate("each ephemeral volume has a claim of its pod", setting, ({ client, random, state }) => {
  let born = 0;
  const pods = () => state.of<Pod>("Pod");
  const claims = () => state.of<PersistentVolumeClaim>("PersistentVolumeClaim");
  const create = () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const volumes = ["x", "y"].map((name) => ({ name, ephemeral: { volumeClaimTemplate: { spec } } }));
    // Few names, so that a pod comes again under one whose claim may still be there.
    return client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born % 3}` }, spec: { ...podTemplate("a:1").spec!, volumes } });
  };
  return {
    arrange: create,
    async step() {
      const pod = someOf(random, pods());
      const claim = someOf(random, claims());
      const choice = random.integer(4);
      if (choice === 0 && pod !== undefined) return client.delete(resources.pods, "default", pod.metadata.name ?? "");
      if (choice === 1 && claim !== undefined) return client.delete(resources.persistentVolumeClaims, "default", claim.metadata.name ?? "");
      return pods().some(({ metadata }) => metadata.name === `p${(born + 1) % 3}`) ? undefined : create();
    },
    async reached() {
      // What is deleted stays for its protection, which nobody takes off here.
      const owners = claims()
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => `${metadata.name} ${metadata.ownerReferences?.[0]?.uid}`);
      const held = new Set(claims().flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : [metadata.name])));
      const wanted = pods().flatMap(({ metadata }) => ["x", "y"].map((volume) => `${metadata.name}-${volume} ${metadata.uid}`));
      assert.deepEqual(owners.sort(), wanted.filter((text) => !held.has(text.split(" ")[0])).sort());
    },
  };
});
