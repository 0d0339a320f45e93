import assert from "node:assert/strict";
import { controllerOf, resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { ResourceClaim } from "../../api/resource-v1/types.ts";
import type { PodGroup } from "../../api/scheduling-v1beta1/types.ts";

const gates = "GenericWorkload=true,DRAWorkloadResourceClaims=true";
const claims = [{ name: "dev", resourceClaimTemplateName: "t" }];

/** Groups and their pods come in any order, before or after the template: in the end each group has a claim, and its status and those of its pods name it. */
simulate(
  "the pods of a group share its claim",
  {
    controllers: ["resourceclaim-controller"],
    flags: { "feature-gates": gates },
    apiServerFlags: { "feature-gates": gates, "runtime-config": "scheduling.k8s.io/v1beta1=true" },
    steps: 12,
  },
  ({ client, random, state, unknownCreates }) => {
    let born = 0;
    let hasTemplate = false;
    const groups = () => state.of<PodGroup>("PodGroup");
    const pods = () => state.of<Pod>("Pod");
    const createGroup = () =>
      client.create(resources.podGroups, {
        metadata: { namespace: "default", name: `g${++born}` },
        spec: { schedulingPolicy: { basic: {} }, resourceClaims: claims },
      });
    const createTemplate = () => {
      hasTemplate = true;
      const devices = { requests: [{ name: "r", exactly: { deviceClassName: "gpu" } }] };
      return client.create(resources.resourceClaimTemplates, { metadata: { namespace: "default", name: "t" }, spec: { spec: { devices } } });
    };
    return {
      arrange: createGroup,
      async step() {
        const choice = random.integer(5);
        if (choice === 0 && !hasTemplate) return createTemplate();
        if (choice === 1) return createGroup();
        const pod = someOf(random, pods())?.metadata.name;
        if (choice === 2 && pod !== undefined) return client.delete(resources.pods, "default", pod);
        const name = random.integer(8) === 0 ? `g${born + 1}` : someOf(random, groups())!.metadata.name!;
        const spec = { ...podTemplate("a:1").spec!, schedulingGroup: { podGroupName: name }, resourceClaims: claims };
        return client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born}` }, spec });
      },
      async reached() {
        if (!hasTemplate) return;
        for (const { metadata, status } of groups()) {
          const own = state.of<ResourceClaim>("ResourceClaim").filter((claim) => controllerOf(claim)?.uid === metadata.uid);
          assert.ok(own.length >= 1 && own.length <= 1 + unknownCreates(), `${metadata.name} has ${own.length} claims`);
          const named = status?.resourceClaimStatuses?.[0]?.resourceClaimName;
          assert.ok(
            own.some((claim) => claim.metadata.name === named),
            `${metadata.name} names ${named}`,
          );
          const alone = state.of<ResourceClaim>("ResourceClaim").filter((claim) => controllerOf(claim)?.kind === "Pod");
          assert.deepEqual(alone, [], "no pod has a claim of its own");
          for (const pod of pods())
            if (pod.spec?.schedulingGroup?.podGroupName === metadata.name && pod.metadata.deletionTimestamp === undefined)
              assert.equal(pod.status?.resourceClaimStatuses?.[0]?.resourceClaimName, named, pod.metadata.name ?? "");
        }
      },
    };
  },
);
