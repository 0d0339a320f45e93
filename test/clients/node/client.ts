/**
 * A client written with @kubernetes/client-node as its documentation shows: list, watch, informer, patches, apply of objects of any kind,
 * logs, exec and port-forward. Ends with 0 when all of it went as on any cluster.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import {
  AppsV1Api,
  CoreV1Api,
  Exec,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  PatchStrategy,
  VersionApi,
  Watch,
  makeInformer,
  setHeaderOptions,
} from "@kubernetes/client-node";
import type { ApiException, V1ConfigMap, V1Pod, V1Status } from "@kubernetes/client-node";

const namespace = "default";
const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);

const { major, minor } = await config.makeApiClient(VersionApi).getCode();
assert.deepEqual([major, minor], ["1", "37"]);
await objects();
await informer();
await anyKind();
await pods();
console.log("client-node: done");
process.exit(0);

async function objects(): Promise<void> {
  const seen: string[] = [];
  const { promise: isDeleted, resolve } = Promise.withResolvers<void>();
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  const query = { labelSelector: "of=node", resourceVersion: metadata!.resourceVersion! };
  const leaving = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    query,
    (type, object: V1ConfigMap) => {
      seen.push(`${type} ${object.metadata!.name}`);
      if (type === "DELETED") resolve();
    },
    () => {},
  );
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "map", labels: { of: "node" } }, data: { a: "1" } } });
  const patched = await core.patchNamespacedConfigMap({ name: "map", namespace, body: [{ op: "add", path: "/data/b", value: "2" }] });
  assert.deepEqual(patched.data, { a: "1", b: "2" });
  const merged = await core.patchNamespacedConfigMap(
    { name: "map", namespace, body: { data: { a: null } } },
    setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
  );
  assert.deepEqual(merged.data, { b: "2" });
  await assert.rejects(
    core.replaceNamespacedConfigMap({ name: "map", namespace, body: { ...patched, data: {} } }),
    (error: ApiException<string>) => error.code === 409 && (JSON.parse(error.body) as V1Status).reason === "Conflict",
  );
  await core.deleteNamespacedConfigMap({ name: "map", namespace });
  await isDeleted;
  assert.deepEqual(seen, ["ADDED map", "MODIFIED map", "MODIFIED map", "DELETED map"]);
  leaving.abort();
}

async function informer(): Promise<void> {
  const maps = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
  const seen: string[] = [];
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  for (const verb of ["add", "update", "delete"] as const) {
    maps.on(verb, ({ metadata }) => {
      if (metadata!.name!.startsWith("informed")) seen.push(`${verb} ${metadata!.name}`);
      if (seen.length === 6) resolve();
    });
  }
  await maps.start();
  for (const name of ["informed-1", "informed-2"]) {
    const body = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
    await core.replaceNamespacedConfigMap({ name, namespace, body: { ...body, data: { a: "1" } } });
    await core.deleteNamespacedConfigMap({ name, namespace });
  }
  await isOver;
  assert.deepEqual(
    seen,
    ["informed-1", "informed-2"].flatMap((name) => [`add ${name}`, `update ${name}`, `delete ${name}`]),
  );
  await maps.stop();
}

async function anyKind(): Promise<void> {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web", command: ["sh", "-c", "echo started; exec sleep 1000"] }] },
      },
    },
  };
  await objects.patch(deployment, undefined, undefined, "node", true, PatchStrategy.ServerSideApply);
  const apps = config.makeApiClient(AppsV1Api);
  const { promise: isAvailable, resolve } = Promise.withResolvers<void>();
  const leaving = await new Watch(config).watch(
    `/apis/apps/v1/namespaces/${namespace}/deployments`,
    {},
    (_type, { status }) => {
      if (status?.availableReplicas === 2) resolve();
    },
    () => {},
  );
  await isAvailable;
  leaving.abort();
  const scale = await apps.readNamespacedDeploymentScale({ name: "web", namespace });
  const scaled = await apps.replaceNamespacedDeploymentScale({ name: "web", namespace, body: { ...scale, spec: { replicas: 1 } } });
  assert.equal(scaled.spec!.replicas, 1);
}

async function pods(): Promise<void> {
  const { items } = await core.listNamespacedPod({ namespace, labelSelector: "app=web" });
  const running = items.find(({ metadata }: V1Pod) => metadata!.deletionTimestamp === undefined)!;
  const name = running.metadata!.name!;
  const log = new PassThrough();
  await new Log(config).log(namespace, name, "web", log, { follow: true });
  const [line] = (await once(log, "data")) as [Buffer];
  assert.equal(line.toString(), "started\n");

  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const { promise: status, resolve } = Promise.withResolvers<V1Status>();
  await new Exec(config).exec(
    namespace,
    name,
    "web",
    ["sh", "-c", "read line; echo said $line; echo aside >&2; exit 3"],
    stdout,
    stderr,
    stdin,
    false,
    resolve,
  );
  stdin.write("it\n");
  const { reason, details } = await status;
  for (const stream of [stdout, stderr]) stream.end();
  assert.deepEqual([await text(stdout), await text(stderr), reason, details!.causes![0]!.message], ["said it\n", "aside\n", "NonZeroExitCode", "3"]);
}
