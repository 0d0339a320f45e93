/** What containers see of their volumes on containerd, looked at from inside: images, mount propagation, sub paths, read-only mounts, groups. */
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until, whyNoContainers } from "./instance.ts";

const reason = await whyNoContainers();
const args = [
  "--port",
  "0",
  "--node-name",
  "mounts-node",
  "--runtime",
  "containerd",
  "--kubelet.port=0",
  "--pod-cidr",
  "10.183.0.0/16",
  "--service-cidr",
  "10.184.0.0/16",
];

describe("mounts", { skip: reason ?? false }, () => {
  let instance: Instance;
  let server: Awaited<ReturnType<Instance["start"]>>;
  before(async () => {
    instance = await Instance.create();
    server = await instance.start({ args });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });
  const folder = () => path.dirname(instance.dataDir);
  const mountPoints = async () =>
    (await readFile("/proc/self/mountinfo", "utf8"))
      .split("\n")
      .map((line) => line.split(" ")[4] ?? "")
      .filter((point) => point.startsWith(path.join(instance.dataDir, "kubelet", "pods")));
  /** `volumes` and `mounts` in YAML's flow style; the container sleeps unless told otherwise. */
  const run = async (name: string, parts: { volumes: string; mounts: string; command?: string; more?: string; security?: string }) => {
    const manifest = `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  ${parts.security === undefined ? "" : `securityContext: ${parts.security}`}
  volumes: ${parts.volumes}
  containers:
  - name: c
    image: coracle.local/hello:v1
    command: [sh, -c, ${JSON.stringify(parts.command ?? "sleep 1000")}]
    volumeMounts: ${parts.mounts}
    ${parts.more ?? ""}
`;
    const file = path.join(folder(), `${name}.yaml`);
    await writeFile(file, manifest);
    await instance.kubectl("apply", "-f", file);
  };
  const ready = (name: string) => instance.kubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=60s");
  const inside = (name: string, command: string) => instance.kubectl("exec", name, "--", "sh", "-c", command);
  const remove = (...names: string[]) => instance.kubectl("delete", "pod", ...names);

  test("an image is a volume, whole or in part, that cannot be written; it goes with its pod", async () => {
    await run("image", {
      volumes: "[{name: files, image: {reference: 'coracle.local/hello:v2', pullPolicy: IfNotPresent}}]",
      mounts: "[{name: files, mountPath: /files}, {name: files, mountPath: /programs, subPath: bin}]",
    });
    await ready("image");
    assert.match(await inside("image", "ls /files/bin/busybox /programs/busybox"), /^\/files\/bin\/busybox\n\/programs\/busybox$/);
    assert.match(await inside("image", "touch /files/new 2>&1 || true"), /Read-only file system/);
    assert.equal((await mountPoints()).length, 2);
    await remove("image");
    assert.deepEqual(await mountPoints(), []);
  });

  test("an image that cannot be pulled keeps its container waiting", async () => {
    await run("no-image", { volumes: "[{name: files, image: {reference: 'registry.invalid/nothing:1'}}]", mounts: "[{name: files, mountPath: /files}]" });
    await until(
      async () =>
        /^(ErrImagePull|ImagePullBackOff)$/.test(
          await instance.kubectl("get", "pod", "no-image", "-o", "jsonpath={.status.containerStatuses[0].state.waiting.reason}"),
        )
          ? true
          : undefined,
      "a pull that fails",
      60_000,
    );
    await remove("no-image");
  });

  test("what one container mounts another sees, as propagation says", async () => {
    const shared = path.join(instance.dataDir, "kubelet", "plugins", "shared");
    await mkdir(shared, { recursive: true });
    const volumes = `[{name: v, hostPath: {path: ${shared}}}]`;
    await run("gives", { volumes, mounts: "[{name: v, mountPath: /v, mountPropagation: Bidirectional}]", more: "securityContext: {privileged: true}" });
    await run("takes", { volumes, mounts: "[{name: v, mountPath: /v, mountPropagation: HostToContainer}]" });
    await run("private", { volumes, mounts: "[{name: v, mountPath: /v}]" });
    for (const name of ["gives", "takes", "private"]) await ready(name);
    await inside("gives", "mkdir /v/inner && mount -t tmpfs none /v/inner && echo here > /v/inner/file");
    assert.equal(await inside("takes", "cat /v/inner/file"), "here");
    assert.equal(await inside("private", "ls /v/inner"), "");
    assert.equal(await readFile(path.join(shared, "inner", "file"), "utf8"), "here\n");
    await inside("gives", "umount /v/inner");
    await remove("gives", "takes", "private");
  });

  test("a sub path that leads out of its volume keeps the container from starting, and says nothing of the machine", async () => {
    const volume = path.join(folder(), "hostile");
    await mkdir(volume);
    await symlink("/etc", path.join(volume, "out"));
    await run("out", { volumes: `[{name: v, hostPath: {path: ${volume}}}]`, mounts: "[{name: v, mountPath: /v, subPath: out}]" });
    const waiting = await until(async () => {
      const state = await instance.kubectl(
        "get",
        "pod",
        "out",
        "-o",
        "jsonpath={.status.containerStatuses[0].state.waiting.reason}: {.status.containerStatuses[0].state.waiting.message}",
      );
      return state.startsWith("CreateContainerConfigError") ? state : undefined;
    }, "the refusal");
    assert.equal(waiting, 'CreateContainerConfigError: failed to create subPath directory for volumeMount "v" of container "c"');
    await remove("out");
  });

  test("variables come from a file that an init container wrote", async () => {
    const init = {
      name: "i",
      image: "coracle.local/hello:v1",
      command: ["sh", "-c", "printf \"A='from a file'\\n\" > /v/env"],
      volumeMounts: [{ name: "v", mountPath: "/v" }],
    };
    const env = [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "v", path: "env", key: "A" } } }];
    const main = { name: "c", image: "coracle.local/hello:v1", command: ["sh", "-c", 'echo "$A"'], env };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "env" },
      spec: { restartPolicy: "Never", volumes: [{ name: "v", emptyDir: {} }], initContainers: [init], containers: [main] },
    };
    const file = path.join(folder(), "env.json");
    await writeFile(file, JSON.stringify(pod));
    await instance.kubectl("apply", "-f", file);
    await instance.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/env", "--timeout=60s");
    assert.equal(await instance.kubectl("logs", "env"), "from a file");
    await remove("env");
  });

  test("a group owns the files of an emptyDir, a read-only mount stays so, and recursion that the runtime lacks is refused", async () => {
    await run("groups", {
      security: "{runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000}",
      volumes: "[{name: v, emptyDir: {}}, {name: m, emptyDir: {medium: Memory, sizeLimit: 2Mi}}]",
      mounts: "[{name: v, mountPath: /v}, {name: v, mountPath: /r, readOnly: true}, {name: m, mountPath: /m}, {name: v, mountPath: /s, subPath: part}]",
    });
    await ready("groups");
    assert.equal(
      await inside(
        "groups",
        "echo x > /v/f; stat -c '%g %a' /v /m /s; stat -c %g /v/f; touch /r/f 2>&1 | grep -c Read-only; df -k /m | tail -1 | awk '{print $2}'",
      ),
      "2000 2777\n2000 3777\n2000 2777\n2000\n1\n2048",
    );
    await run("recursive", { volumes: "[{name: v, emptyDir: {}}]", mounts: "[{name: v, mountPath: /v, readOnly: true, recursiveReadOnly: Enabled}]" });
    const refusal = await until(
      async () => (await instance.kubectl("get", "pod", "recursive", "-o", "jsonpath={.status.containerStatuses[0].state.waiting.message}")) || undefined,
      "the refusal",
    );
    assert.match(refusal, /requested recursive read-only mode, but it is not supported by the runtime/);
    await remove("groups", "recursive");
    assert.deepEqual(await mountPoints(), []);
  });

  test("pods that come and go while the server is killed leave no mount, no file and no directory", async () => {
    const claim = (name: string) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
    });
    const pod = (name: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { app: "many" } },
      spec: {
        terminationGracePeriodSeconds: 1,
        securityContext: { fsGroup: 1000 },
        containers: [
          {
            name: "c",
            image: "coracle.local/hello:v1",
            command: ["sh", "-c", "echo x > /d/f; echo x > /m/f; echo x > /s/f; sleep 1000"],
            volumeMounts: [
              { name: "d", mountPath: "/d" },
              { name: "m", mountPath: "/m" },
              { name: "e", mountPath: "/s", subPath: "part" },
              { name: "i", mountPath: "/i" },
            ],
          },
        ],
        volumes: [
          { name: "d", persistentVolumeClaim: { claimName: name } },
          { name: "m", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
          { name: "e", emptyDir: {} },
          { name: "i", image: { reference: "coracle.local/hello:v2" } },
        ],
      },
    });
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    const file = path.join(folder(), "many.json");
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: names.flatMap((name) => [claim(name), pod(name)]) }));
    await instance.kubectl("apply", "-f", file);
    const running = async () =>
      (await instance.kubectl("get", "pods", "-l", "app=many", "--field-selector=status.phase=Running", "-o", "name")).split("\n").filter((name) => name !== "")
        .length;
    await until(async () => ((await running()) >= 4 ? true : undefined), "some pods", 60_000);
    const kill = async () => {
      await instance.end(server, "SIGKILL");
      server = await instance.start({ args });
    };
    await kill();
    await instance.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=many", "--timeout=120s");
    await instance.kubectl("delete", "pod", ...names.slice(0, 6), "--grace-period=0", "--force", "--wait=false");
    await instance.kubectl("delete", "pod", ...names.slice(6), "--wait=false");
    await kill();
    await instance.kubectl("wait", "--for=delete", "pod", "-l", "app=many", "--timeout=120s");
    await instance.kubectl("delete", "pvc", ...names);
    const kubelet = path.join(instance.dataDir, "kubelet");
    const left = async () => [
      ...(await mountPoints()),
      ...(await readdir(path.join(kubelet, "pods"))),
      ...(await readdir(path.join(kubelet, "memory"))),
      ...(await readdir(path.join(instance.dataDir, "volumes"))),
    ];
    await until(async () => ((await left()).length === 0 ? true : undefined), "nothing to be left", 60_000).catch(async () =>
      assert.deepEqual(await left(), []),
    );
  });
});
