import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { resources } from "../client/index.ts";
import { TestCluster } from "../testing/index.ts";
import { localDirectories } from "./directories.ts";
import type { VolumeDirectories } from "./directories.ts";
import { annotations, provisionerName } from "./plan.ts";
import { createProvisioner } from "./provisioner.ts";

test("directories: made for everybody, removed whole, and none but ours", async () => {
  const root = await mkdtemp(join(tmpdir(), "local-path-"));
  const directories = localDirectories(root);
  const path = directories.pathOf("pvc-1");
  await directories.make(path);
  await writeFile(join(path, "file"), "");
  await directories.make(path);
  deepEqual([(await stat(path)).mode & 0o777, await readdir(path)], [0o777, ["file"]]);
  for (const other of ["/etc", root, join(root, "a", "b"), `${root}/../x`])
    await rejects(directories.remove(other), { message: `${other} is not a directory of this provisioner` });
  await directories.remove(path);
  await directories.remove(path);
  deepEqual(await readdir(root), []);
  await rm(root, { recursive: true });
});

test("a claim whose node is chosen gets a volume once its directory can be made; both go when the volume is released", async () => {
  const made = new Set<string>();
  let faults = 1;
  const directories: VolumeDirectories = {
    pathOf: (name) => `/volumes/${name}`,
    make: async (path) => {
      if (faults-- > 0) throw new Error("no space left on device");
      made.add(path);
    },
    remove: async (path) => void made.delete(path),
  };
  const user = { username: "provisioner", groups: ["system:masters", "system:authenticated"] };
  await using cluster = await TestCluster.start({
    components: {
      storage: ({ transportFor, signal, ...context }) => createProvisioner({ ...context, transport: transportFor(user), directories }).run(signal),
    },
  });
  const { client } = cluster;
  await cluster.settled();
  deepEqual(
    (await client.list(resources.storageClasses, "")).items.map(({ metadata, volumeBindingMode }) => [metadata.name, metadata.annotations, volumeBindingMode]),
    [["local-path", { "storageclass.kubernetes.io/is-default-class": "true" }, "WaitForFirstConsumer"]],
  );
  await client.create(resources.nodes, { metadata: { name: "n1" } });
  const { metadata } = await client.create(resources.persistentVolumeClaims, {
    metadata: { name: "data", namespace: "default", annotations: { [annotations.provisioner]: provisionerName, [annotations.selectedNode]: "n1" } },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  await cluster.settled({ quietMs: 5000 });
  const name = `pvc-${metadata.uid}`;
  deepEqual([...made], [`/volumes/${name}_default_data`]);
  const told = (await client.list(resources.events, "default")).items.map(({ reason, message }) => `${reason}: ${message}`);
  deepEqual(told.toSorted(), [
    'Provisioning: External provisioner is provisioning volume for claim "default/data"',
    'ProvisioningFailed: failed to provision volume with StorageClass "local-path": no space left on device',
    `ProvisioningSucceeded: Successfully provisioned volume ${name}`,
  ]);
  await client.patch(resources.persistentVolumes, "", name, { type: "merge", subresource: "status", body: { status: { phase: "Released" } } });
  // Protection is a controller's finalizer.
  await client.patch(resources.persistentVolumes, "", name, { type: "merge", body: { metadata: { finalizers: [provisionerName] } } });
  await cluster.settled();
  equal((await client.list(resources.persistentVolumes, "")).items.length, 0);
  equal(made.size, 0);
});
