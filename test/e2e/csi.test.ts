/** Volumes of a CSI driver on containerd: from its registration to the last unmount, with the calls the driver got. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { startHostPathDriver } from "../../src/testing/csi-host-path-driver.ts";
import type { HostPathDriver } from "../../src/testing/csi-host-path-driver.ts";
import { Instance, until, whyNoContainers } from "./instance.ts";

const reason = await whyNoContainers();
const driverName = "hostpath.test.coracle.dev";
const args = [
  "--port",
  "0",
  "--node-name",
  "csi-node",
  "--runtime",
  "containerd",
  "--kubelet.port=0",
  "--pod-cidr",
  "10.221.0.0/16",
  "--service-cidr",
  "10.222.0.0/16",
];

const attached = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: ${driverName}}
spec: {attachRequired: true, podInfoOnMount: true, fsGroupPolicy: File, volumeLifecycleModes: [Persistent, Ephemeral], tokenRequests: [{audience: storage}]}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {password: open}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv, annotations: {pv.beta.kubernetes.io/gid: "777"}}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: by-hand
  csi: {driver: ${driverName}, volumeHandle: one, fsType: ext4, volumeAttributes: {colour: red}, nodePublishSecretRef: {name: key, namespace: default}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], storageClassName: by-hand, resources: {requests: {storage: 1Gi}}}
`;
const writer = `
apiVersion: v1
kind: Pod
metadata: {name: writer}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {fsGroup: 4321}
  containers:
  - name: c
    image: coracle.local/hello:v1
    command: [sh, -c, "id -G; stat -c %g /data; echo written > /data/file; sleep 1000"]
    volumeMounts: [{name: data, mountPath: /data}]
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: claim}}
`;
const inline = `
apiVersion: v1
kind: Pod
metadata: {name: inline}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: coracle.local/hello:v1
    command: [sleep, "1000"]
    volumeMounts: [{name: scratch, mountPath: /scratch}]
  volumes:
  - {name: scratch, csi: {driver: ${driverName}, volumeAttributes: {size: small}}}
`;

describe("CSI", { skip: reason ?? false }, () => {
  let instance: Instance;
  let server: Awaited<ReturnType<Instance["start"]>>;
  let driver: HostPathDriver;
  const folder = () => path.dirname(instance.dataDir);
  const startDriver = () =>
    startHostPathDriver({
      name: driverName,
      directory: path.join(folder(), "driver"),
      registry: path.join(instance.dataDir, "kubelet", "plugins_registry"),
      nodeId: "id-of-node",
    });
  const apply = async (text: string) => {
    const file = path.join(folder(), "manifest.yaml");
    await writeFile(file, text);
    await instance.kubectl("apply", "-f", file);
  };
  const events = (pod: string) =>
    instance.kubectl("get", "events", "--field-selector", `involvedObject.name=${pod}`, "-o", "jsonpath={range .items[*]}{.reason}: {.message}{'\\n'}{end}");
  const methods = () => driver.calls.map(({ method }) => method).filter((method) => method !== "NodeGetCapabilities" && method !== "NodeGetInfo");
  const mounts = async () =>
    (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter((line) => line.includes(instance.dataDir) && /kubernetes\.io[~/]csi/.test(line)).length;
  before(async () => {
    instance = await Instance.create();
    server = await instance.start({ args });
  });
  after(async () => {
    await driver?.[Symbol.asyncDispose]();
    await instance[Symbol.asyncDispose]();
  });

  test("a driver that announces itself is told of in CSINode, annotation and labels", async () => {
    assert.equal(
      await until(
        async () => instance.kubectl("get", "csinode", "csi-node", "-o", "jsonpath={.metadata.name}{.spec.drivers[*].name}").catch(() => undefined),
        "the CSINode",
      ),
      "csi-node",
    );
    driver = await startDriver();
    assert.deepEqual(await driver.registration, { plugin_registered: true, error: "" });
    const node = JSON.parse(await instance.kubectl("get", "csinode", "csi-node", "-o", "json")) as {
      spec: unknown;
      metadata: { ownerReferences: { kind: string }[] };
    };
    assert.deepEqual(node.spec, {
      drivers: [{ name: driverName, nodeID: "id-of-node", topologyKeys: ["topology.test.coracle.dev/node"], allocatable: { count: 7 } }],
    });
    assert.equal(node.metadata.ownerReferences[0]?.kind, "Node");
    assert.equal(
      await instance.kubectl(
        "get",
        "node",
        "csi-node",
        "-o",
        "jsonpath={.metadata.annotations.csi\\.volume\\.kubernetes\\.io/nodeid} {.metadata.labels.topology\\.test\\.coracle\\.dev/node}",
      ),
      `{"${driverName}":"id-of-node"} id-of-node`,
    );
  });

  test("a pod waits for the attachment, then has its volume staged and published, with group, secret, token and pod", async () => {
    await apply(attached);
    await instance.kubectl("wait", "--for=jsonpath={.status.phase}=Bound", "pvc/claim", "--timeout=30s");
    // As a resizer does: the disk has grown, its file system has not.
    await instance.kubectl("patch", "pv", "pv", "--type=merge", "-p", '{"spec":{"capacity":{"storage":"2Gi"}}}');
    await apply(writer);
    const attachment = await until(async () => (await instance.kubectl("get", "volumeattachments", "-o", "name")) || undefined, "a VolumeAttachment");
    assert.deepEqual(methods(), []);
    await until(
      async () =>
        (await instance.kubectl("get", "node", "csi-node", "-o", "jsonpath={.status.volumesInUse[0]}")) === `kubernetes.io/csi/${driverName}^one`
          ? true
          : undefined,
      "the volume in use",
    );
    driver.failNext("NodeStageVolume", "disk is upside down");
    await instance.kubectl(
      "patch",
      attachment,
      "--subresource=status",
      "--type=merge",
      "-p",
      JSON.stringify({ status: { attached: true, attachmentMetadata: { device: "sdx" } } }),
    );
    await instance.kubectl("wait", "--for=condition=Ready", "pod/writer", "--timeout=60s");
    assert.match(
      await events("writer"),
      /SuccessfulAttachVolume: AttachVolume\.Attach succeeded for volume "pv" \n(.|\n)*FailedMount: MountVolume\.MountDevice failed for volume "pv" : rpc error: code = Internal desc = disk is upside down/,
    );
    assert.deepEqual(methods(), ["NodeStageVolume", "NodeStageVolume", "NodePublishVolume", "NodeExpandVolume"]);
    assert.deepEqual(driver.calls.at(-1)!.request["capacity_range"], { required_bytes: 2 * 1024 ** 3, limit_bytes: 0 });
    assert.equal(await instance.kubectl("get", "pvc", "claim", "-o", "jsonpath={.status.capacity.storage}"), "2Gi");
    assert.match(await events("writer"), /FileSystemResizeSuccessful: MountVolume\.NodeExpandVolume succeeded for volume "pv" csi-node/);
    const publish = driver.calls.findLast(({ method }) => method === "NodePublishVolume")!.request;
    const uid = await instance.kubectl("get", "pod", "writer", "-o", "jsonpath={.metadata.uid}");
    const { "csi.storage.k8s.io/serviceAccount.tokens": tokens, ...context } = publish["volume_context"] as Record<string, string>;
    assert.deepEqual(context, {
      colour: "red",
      "csi.storage.k8s.io/pod.name": "writer",
      "csi.storage.k8s.io/pod.namespace": "default",
      "csi.storage.k8s.io/pod.uid": uid,
      "csi.storage.k8s.io/serviceAccount.name": "default",
      "csi.storage.k8s.io/ephemeral": "false",
    });
    assert.match((JSON.parse(tokens!) as { storage: { token: string } }).storage.token, /^ey/);
    assert.deepEqual([publish["publish_context"], publish["secrets"], publish["readonly"]], [{ device: "sdx" }, { password: "open" }, false]);
    assert.deepEqual(publish["volume_capability"], {
      mount: { fs_type: "ext4", mount_flags: [], volume_mount_group: "" },
      access_mode: { mode: "SINGLE_NODE_WRITER" },
    });
    assert.match(await instance.kubectl("logs", "writer"), /(?=.*777)(?=.*4321).*\n4321/);
    const summary = JSON.parse(await instance.kubectl("get", "--raw", "/api/v1/nodes/csi-node/proxy/stats/summary")) as {
      pods: { podRef: { name: string }; volume?: { pvcRef?: object; time?: string }[] }[];
    };
    const [{ time: _time, ...volume } = {}] =
      summary.pods.find(({ podRef }) => podRef.name === "writer")?.volume?.filter(({ pvcRef }) => pvcRef !== undefined) ?? [];
    assert.deepEqual(volume, {
      availableBytes: 600,
      capacityBytes: 1000,
      usedBytes: 400,
      inodesFree: 9,
      inodes: 10,
      inodesUsed: 1,
      name: "data",
      pvcRef: { name: "claim", namespace: "default" },
    });
    assert.match(
      await instance.kubectl("get", "--raw", "/api/v1/nodes/csi-node/proxy/metrics"),
      /kubelet_volume_stats_used_bytes\{namespace="default",persistentvolumeclaim="claim"\} 400$/m,
    );
    assert.equal(await readFile(path.join(folder(), "driver", "one", "file"), "utf8"), "written\n");
  });

  test("an in-line volume is published for its pod only, and goes with it", async () => {
    await apply(inline);
    await instance.kubectl("wait", "--for=condition=Ready", "pod/inline", "--timeout=60s");
    const publish = driver.calls.findLast(({ method }) => method === "NodePublishVolume")!.request;
    assert.match(publish["volume_id"] as string, /^csi-[0-9a-f]{64}$/);
    assert.equal((publish["volume_context"] as Record<string, string>)["csi.storage.k8s.io/ephemeral"], "true");
    await instance.kubectl("delete", "pod", "inline");
    assert.deepEqual(methods().slice(-2), ["NodePublishVolume", "NodeUnpublishVolume"]);
  });

  test("another kubelet takes the volume down, once its driver is there again; nothing stays mounted", async () => {
    await instance.end(server, "SIGKILL");
    await driver[Symbol.asyncDispose]();
    server = await instance.start({ args });
    await instance.kubectl("delete", "pod", "writer", "--wait=false");
    assert.equal(await instance.kubectl("get", "node", "csi-node", "-o", "jsonpath={.status.volumesInUse[0]}"), `kubernetes.io/csi/${driverName}^one`);
    assert.equal(await mounts(), 2);
    driver = await startDriver();
    await instance.kubectl("wait", "--for=delete", "pod/writer", "--timeout=60s");
    assert.deepEqual(methods().slice(-2), ["NodeUnpublishVolume", "NodeUnstageVolume"]);
    assert.equal(await mounts(), 0);
    await until(
      async () =>
        (await instance.kubectl("get", "node", "csi-node", "-o", "jsonpath={.status.volumesInUse}{.status.volumesAttached}")) === "" ? true : undefined,
      "the node to let go of the volume",
      30_000,
    );
    assert.equal(await readFile(path.join(folder(), "driver", "one", "file"), "utf8"), "written\n");
  });

  test("a driver that goes is no longer told of, and pods say that it is missing", async () => {
    await driver[Symbol.asyncDispose]();
    await until(
      async () => ((await instance.kubectl("get", "csinode", "csi-node", "-o", "jsonpath={.spec.drivers[*].name}")) === "" ? true : undefined),
      "the driver to go",
    );
    await apply(inline.replace("spec:", "spec:\n  nodeName: csi-node"));
    const told = await until(async () => ((await events("inline")).match(/FailedMount: .*not found.*/) ?? [])[0], "an event");
    assert.equal(
      told,
      `FailedMount: MountVolume.SetUp failed for volume "scratch" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${driverName} not found in the list of registered CSI drivers`,
    );
    await instance.kubectl("delete", "pod", "inline");
  });
});
