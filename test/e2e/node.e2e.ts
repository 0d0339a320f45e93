/** What a node does for its pods beyond running them, on containerd: limits and CPUs as the kernel has them, eviction, devices, logs, images. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { devicePluginTables } from "../../src/kubelet/devices/device-plugin.ts";
import { serveGrpc } from "../../src/kubelet/plugins/grpc-server.ts";
import { GrpcConnection } from "../../src/kubelet/runtime/containerd/grpc.ts";
import { Instance, until, whyNoContainers } from "./instance.ts";

const reason = (await whyNoContainers()) ?? (cpus().length < 2 ? "needs two CPUs" : undefined);
const image = "coracle.local/hello:v1";

describe("a node on containerd", { skip: reason ?? false }, () => {
  let instance: Instance;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "coracle-node-"));
    const config = path.join(folder, "kubelet.yaml");
    const settings = {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      cpuManagerPolicy: "static",
      systemReserved: { cpu: "500m" },
      volumeStatsAggPeriod: "1s",
      containerLogMaxSize: "4Ki",
      containerLogMaxFiles: 3,
      evictionPressureTransitionPeriod: "0s",
    };
    await writeFile(config, JSON.stringify(settings));
    instance = await Instance.create();
    const ports = ["--port", "16449", "--kubelet.port=16256", "--pod-cidr", "10.215.0.0/16", "--service-cidr", "10.216.0.0/16"];
    await instance.start({ args: ["--runtime", "containerd", "--node-name", "n1", `--kubelet.config=${config}`, ...ports] });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const run = async (name: string, container: object, more: object = {}) => {
    const file = path.join(folder, `${name}.json`);
    const spec = { terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers: [{ name: "c", image, ...container }], ...more };
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec }));
    await instance.kubectl("apply", "-f", file);
  };
  const get = (name: string, jsonpath: string) => instance.kubectl("get", "pod", name, "-o", `jsonpath=${jsonpath}`);
  const running = (name: string) => instance.kubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=60s");
  const sh = (name: string, script: string) => instance.kubectl("exec", name, "--", "sh", "-c", script);
  const cpusOf = (name: string) => sh(name, "sed -n 's/^Cpus_allowed_list:\\s*//p' /proc/self/status");

  test("a resize reaches the kernel without a restart", async () => {
    await run("grow", { resources: { requests: { cpu: "100m", memory: "32Mi" }, limits: { memory: "64Mi" } } });
    await running("grow");
    const limit = () => sh("grow", "cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max");
    assert.equal(await limit(), String(64 * 1024 * 1024));
    await instance.kubectl(
      "patch",
      "pod",
      "grow",
      "--subresource",
      "resize",
      "-p",
      '{"spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"96Mi"}}}]}}',
    );
    await until(async () => ((await limit()) === String(96 * 1024 * 1024) ? true : undefined), "the new limit in the kernel");
    await until(
      async () => ((await get("grow", "{.status.containerStatuses[0].resources.limits.memory}")) === "96Mi" ? true : undefined),
      "the new limit in the status",
    );
    assert.equal(await get("grow", "{.status.containerStatuses[0].restartCount}"), "0");
    await instance.kubectl("delete", "pod", "grow", "--wait=false");
  });

  test("whole CPUs of a guaranteed pod are its own; the others move away, and back", async () => {
    const all = await (async () => {
      await run("shared", {});
      await running("shared");
      return cpusOf("shared");
    })();
    const guaranteed = { cpu: "1", memory: "32Mi" };
    await run("pinned", { resources: { requests: guaranteed, limits: guaranteed } });
    await running("pinned");
    const own = await cpusOf("pinned");
    assert.match(own, /^\d+$/);
    await until(async () => ((await cpusOf("shared")) !== all ? true : undefined), "the shared pod elsewhere");
    assert.ok(!(await cpusOf("shared")).split(/[,-]/).includes(own));
    await instance.kubectl("delete", "pod", "pinned");
    await until(async () => ((await cpusOf("shared")) === all ? true : undefined), "the shared pod everywhere");
    await instance.kubectl("delete", "pod", "shared", "--wait=false");
  });

  test("a pod that overfills its volume is evicted, and nothing of it runs on", async () => {
    const script = "dd if=/dev/zero of=/cache/big bs=1M count=8; sleep 1000";
    await run(
      "full",
      { command: ["sh", "-c", script], volumeMounts: [{ name: "cache", mountPath: "/cache" }] },
      { volumes: [{ name: "cache", emptyDir: { sizeLimit: "2Mi" } }] },
    );
    const shown = await until(
      async () => {
        const text = await get("full", "{.status.phase} {.status.reason} {.status.message}");
        return text.startsWith("Failed") ? text : undefined;
      },
      "an evicted pod",
      40_000,
    );
    assert.equal(shown.trim(), 'Failed Evicted Usage of EmptyDir volume "cache" exceeds the limit "2Mi".');
    assert.match(
      await instance.kubectl("get", "events", "--field-selector", "involvedObject.name=full,reason=Evicted", "-o", "jsonpath={.items[0].message}"),
      /exceeds the limit/,
    );
    assert.match(await get("full", "{.status.containerStatuses[0].state}"), /terminated/);
  });

  test("a log that grows is moved away and compressed, and goes on", async () => {
    await run("chatty", { command: ["sh", "-c", "while :; do echo 0123456789012345678901234567890123456789012345678901234567890123456789; sleep 0.01; done"] });
    await running("chatty");
    const uid = await get("chatty", "{.metadata.uid}");
    const directory = path.join(instance.dataDir, "kubelet/logs", `default_chatty_${uid}`, "c");
    await until(async () => ((await readdir(directory)).some((name) => name.endsWith(".gz")) ? true : undefined), "a compressed log", 60_000);
    assert.ok((await readdir(directory)).length <= 3);
    assert.match(await instance.kubectl("logs", "chatty", "--tail=1"), /^0123456789/);
    await instance.kubectl("delete", "pod", "chatty", "--wait=false");
  });

  test("a RuntimeClass names the runtime's handler; one that is not there is told of", async () => {
    await writeFile(
      path.join(folder, "class.json"),
      JSON.stringify({ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "plain" }, handler: "runc" }),
    );
    await instance.kubectl("apply", "-f", path.join(folder, "class.json"));
    await run("classed", {}, { runtimeClassName: "plain" });
    await running("classed");
    await instance.kubectl("delete", "pod", "classed", "--wait=false");
    await assert.rejects(run("classless", {}, { runtimeClassName: "missing" }), /RuntimeClass "missing" not found/);
  });

  test("a device of a plugin shows on the node and in the container", async () => {
    const sockets = path.join(instance.dataDir, "kubelet/device-plugins");
    const gone = new AbortController();
    await using _plugin = await serveGrpc(path.join(sockets, "toy.sock"), "v1beta1.DevicePlugin", devicePluginTables, {
      ListAndWatch: {
        messages: ["Empty", "ListAndWatchResponse"],
        stream: async function* (_request, signal) {
          yield {
            devices: [
              { ID: "one", health: "Healthy" },
              { ID: "two", health: "Unhealthy" },
            ],
          };
          await new Promise((resolve) => AbortSignal.any([signal, gone.signal]).addEventListener("abort", resolve, { once: true }));
        },
      },
      Allocate: {
        messages: ["AllocateRequest", "AllocateResponse"],
        answer: async () => ({
          container_responses: [
            {
              envs: { TOY: "one" },
              mounts: [],
              devices: [{ container_path: "/dev/toy", host_path: "/dev/null", permissions: "rw" }],
              annotations: {},
              cdi_devices: [],
            },
          ],
        }),
      },
    });
    const connection = new GrpcConnection({ socketPath: path.join(sockets, "kubelet.sock"), clock: systemClock() });
    try {
      await connection
        .service("v1beta1.Registration", devicePluginTables)
        .call("Register", { version: "v1beta1", endpoint: "toy.sock", resource_name: "example.com/toy" }, { messages: ["RegisterRequest", "Empty"] });
      await until(
        async () =>
          (await instance.kubectl("get", "node", "n1", "-o", "jsonpath={.status.capacity.example\\.com/toy} {.status.allocatable.example\\.com/toy}")) === "2 1"
            ? true
            : undefined,
        "the devices on the node",
      );
      await run("toy", { resources: { limits: { "example.com/toy": "1" } } });
      await running("toy");
      assert.equal(await sh("toy", "echo $TOY; test -c /dev/toy && echo device"), "one\ndevice");
      assert.equal(await get("toy", "{.status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health}"), "Healthy");
    } finally {
      gone.abort();
      connection.close();
    }
    await instance.kubectl("delete", "pod", "toy", "--wait=false");
  });
});
