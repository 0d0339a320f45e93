import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { podTemplate, someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Node, Pod } from "../../api/core-v1/types.ts";
import type { VolumeAttachment } from "../../api/storage-v1/types.ts";

const driver = "d.example.com";
const nodes = ["n1", "n2"];
const setting = { controllers: ["persistentvolume-attach-detach-controller"], nodes, steps: 16, pauseMs: 8000 };
const volumes = ["v1", "v2", "v3"];
const handle = (volume: string) => `kubernetes.io/csi/${driver}^${volume}`;

/** Pods with volumes come and go on two nodes, drivers attach: what pods need is attached and told, what a node still uses is not taken from it. */
simulate("volumes are attached where pods need them", setting, ({ cluster, client, random, state }) => {
  let born = 0;
  const pods = () => state.of<Pod>("Pod");
  const attachments = () => state.of<VolumeAttachment>("VolumeAttachment");
  const nodeOf = (name: string) => state.of<Node>("Node").find(({ metadata }) => metadata.name === name);
  const volumeOf = ({ spec }: DeepReadonly<Pod>) => spec?.volumes?.[0]?.persistentVolumeClaim?.claimName ?? "";
  const wanted = () => new Set(pods().flatMap((pod) => (pod.status?.phase === "Succeeded" ? [] : [`${pod.spec?.nodeName} ${volumeOf(pod)}`])));
  const create = () => {
    const claim = { name: "x", persistentVolumeClaim: { claimName: someOf(random, volumes)! } };
    const spec = { ...podTemplate("a:1", "Never").spec!, nodeName: someOf(random, nodes)!, volumes: [claim] };
    return client.create(resources.pods, { metadata: { namespace: "default", name: `p${++born}` }, spec });
  };
  /** As a driver's attacher does. */
  const attach = async () => {
    for (const { metadata, status } of attachments()) {
      if (status?.attached !== true)
        await client.patch(resources.volumeAttachments, "", metadata.name ?? "", {
          type: "merge",
          subresource: "status",
          body: { status: { attached: true } },
        });
    }
  };
  /** As a kubelet does: it uses what its pods need. */
  const use = (name: string) => {
    const volumesInUse = [...wanted()].flatMap((text) => (text.startsWith(`${name} `) ? [handle(text.split(" ")[1]!)] : []));
    return client.patch(resources.nodes, "", name, { type: "merge", subresource: "status", body: { status: { volumesInUse } } });
  };
  return {
    async arrange() {
      for (const name of volumes) {
        const spec = { accessModes: ["ReadWriteMany"], storageClassName: "" };
        await client.create(resources.persistentVolumes, {
          metadata: { name },
          spec: { ...spec, capacity: { storage: "1Gi" }, csi: { driver, volumeHandle: name }, claimRef: { namespace: "default", name } },
        });
        const claim = { ...spec, volumeName: name, resources: { requests: { storage: "1Gi" } } };
        await client.create(resources.persistentVolumeClaims, { metadata: { namespace: "default", name }, spec: claim });
        const body = { status: { phase: "Bound" } };
        await client.patch(resources.persistentVolumeClaims, "default", name, { type: "merge", subresource: "status", body });
      }
      for (const name of nodes) {
        const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
        await client.patch(resources.nodes, "", name, { type: "merge", body: { metadata: { annotations } } });
        const { metadata } = await client.get(resources.nodes, "", name);
        const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid: metadata.uid! }];
        await client.create(resources.csiNodes, { metadata: { name, ownerReferences }, spec: { drivers: [{ name: driver, nodeID: name, topologyKeys: [] }] } });
      }
      await create();
    },
    async step() {
      const pod = someOf(random, pods())?.metadata.name;
      const choice = random.integer(6);
      if (choice <= 1 || pod === undefined) return create();
      if (choice === 2) return client.delete(resources.pods, "default", pod);
      if (choice === 3) return client.patch(resources.pods, "default", pod, { type: "merge", subresource: "status", body: { status: { phase: "Succeeded" } } });
      if (choice === 4) return attach();
      return use(someOf(random, nodes)!);
    },
    check({ kind, object, old }) {
      if (kind !== "VolumeAttachment" || object !== undefined || old === undefined) return;
      const { nodeName, source } = (old as VolumeAttachment).spec;
      const volume = source.persistentVolumeName ?? "";
      assert.ok(nodeOf(nodeName)?.status?.volumesInUse?.includes(handle(volume)) !== true, `${nodeName} does not use ${volume}`);
    },
    async settle() {
      for (let round = 0; round < 3; round++) {
        for (const name of nodes) await use(name);
        await cluster.settled({ quietMs: 60_000, limitMs: 3_600_000 });
        await attach();
      }
      await cluster.settled({ quietMs: 90_000, limitMs: 3_600_000 });
    },
    async reached() {
      const attached = attachments().map(({ spec }) => `${spec.nodeName} ${spec.source.persistentVolumeName}`);
      assert.deepEqual(attached.sort(), [...wanted()].sort());
      for (const name of nodes) {
        const told = (nodeOf(name)?.status?.volumesAttached ?? []).map((one) => `${name} ${one.name.split("^")[1]}`);
        assert.deepEqual(
          told.sort(),
          attached.filter((text) => text.startsWith(`${name} `)),
        );
      }
    },
  };
});
