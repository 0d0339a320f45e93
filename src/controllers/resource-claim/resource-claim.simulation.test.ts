import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { isPodDone } from "./pod-claims.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";

const setting = { controllers: ["resourceclaim-controller"], steps: 16, pauseMs: 8000 };
const guard = "resource.kubernetes.io/delete-protection";
const request = { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } };
const allocation = { devices: { results: [{ request: "r", driver: "d.example.com", pool: "p", device: "x" }] } };

/** Pods that want a claim of their own, or share one, come, end and go: each has its one claim, nobody is reserved for who is done, and no user loses his. */
simulate("claims are there for the pods that use them, and no longer", setting, ({ client, random, state, unknownCreates }) => {
  let born = 0;
  const pods = () => state.of<Pod>("Pod");
  const claims = () => state.of<ResourceClaim>("ResourceClaim");
  const claimsOf = ({ metadata }: DeepReadonly<Pod>) => claims().filter((claim) => claim.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  const isUser = (uid: string) => pods().some((pod) => pod.metadata.uid === uid && !isPodDone(pod));
  const create = () => {
    const own = { name: "own", resourceClaimTemplateName: "t" };
    const spec = { ...podTemplate("a:1", "Never").spec!, resourceClaims: [random.integer(2) === 0 ? own : { name: "shared", resourceClaimName: "shared" }] };
    return client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born}` }, spec });
  };
  /** As a scheduler does: guarded, then allocated and reserved. */
  const allocate = async (claim: DeepReadonly<ResourceClaim>, pod: DeepReadonly<Pod>) => {
    const name = claim.metadata.name ?? "";
    const body = { metadata: { finalizers: [guard] } };
    const { metadata } = await client.patch(resources.resourceClaims, "default", name, { type: "merge", body });
    const user = { resource: "pods", name: pod.metadata.name, uid: pod.metadata.uid };
    const others = (claim.status?.reservedFor ?? []).filter(({ uid }) => uid !== user.uid);
    const status = { metadata: { resourceVersion: metadata.resourceVersion }, status: { allocation, reservedFor: [...others, user] } };
    await client.patch(resources.resourceClaims, "default", name, { type: "merge", subresource: "status", body: status });
  };
  return {
    async arrange() {
      const metadata = { namespace: "default", name: "shared" };
      await client.create(resources.resourceClaims, { metadata, spec: request });
      await client.create(resources.resourceClaimTemplates, { metadata: { namespace: "default", name: "t" }, spec: { spec: request } });
      await create();
    },
    async step() {
      const pod = someOf(random, pods());
      const choice = random.integer(6);
      if (choice <= 1 || pod === undefined) return create();
      const { name = "" } = pod.metadata;
      if (choice === 2) return client.delete(resources.pods, "default", name);
      if (choice === 3)
        return client.patch(resources.pods, "default", name, { type: "merge", subresource: "status", body: { status: { phase: "Succeeded" } } });
      const isShared = pod.spec?.resourceClaims?.[0]?.name === "shared";
      const claim = isShared ? claims().find(({ metadata }) => metadata.name === "shared") : claimsOf(pod)[0];
      if (claim !== undefined && !isPodDone(pod)) await allocate(claim, pod);
    },
    check({ kind, object, old }) {
      if (kind === "ResourceClaim" && old !== undefined) {
        const kept = new Set((object as ResourceClaim | undefined)?.status?.reservedFor?.map(({ uid }) => uid));
        const lost = (old as ResourceClaim).status?.reservedFor?.find(({ uid }) => isUser(uid) && !kept.has(uid));
        assert.equal(lost?.name, undefined, `${old.metadata.name} stays reserved for who uses it`);
      }
      if (kind !== "ResourceClaim" || object === undefined || old !== undefined || object.metadata.name === "shared") return;
      for (const pod of pods()) {
        const own = claimsOf(pod).filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
        assert.ok(own <= 1 + unknownCreates(), `${own} claims of ${pod.metadata.name}`);
      }
    },
    async reached() {
      for (const pod of pods()) {
        const entry = pod.spec?.resourceClaims?.[0];
        if (entry?.name !== "own" || pod.metadata.deletionTimestamp !== undefined) continue;
        const own = claimsOf(pod).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        if (isPodDone(pod)) assert.equal(own.length, 0, `${pod.metadata.name} is done`);
        else
          assert.ok(
            own.some(({ metadata }) => metadata.name === pod.status?.resourceClaimStatuses?.[0]?.resourceClaimName),
            `${pod.metadata.name} has its claim`,
          );
      }
      for (const { metadata, status } of claims()) {
        for (const { uid, name } of status?.reservedFor ?? []) assert.ok(isUser(uid), `${metadata.name} is not reserved for ${name}`);
      }
    },
  };
});
