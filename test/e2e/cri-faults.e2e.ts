/** A containerd that refuses, breaks off or hangs at each call in turn: every pod still comes to run, and goes without a trace. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { CriProxy } from "./cri-proxy.ts";
import { Instance, until, whyNoContainers } from "./instance.ts";
import { leftBetween, nodeTraces } from "./node-traces.ts";
import type { NodeTraces } from "./node-traces.ts";

const reason = await whyNoContainers();
const args = ["--port", "16476", "--runtime", "containerd", "--pod-cidr", "10.190.0.0/16", "--service-cidr", "10.191.0.0/16", "--kubelet.port=16296"];

/** What a pod's life calls. */
const calls = [
  "RunPodSandbox",
  "PodSandboxStatus",
  "ListPodSandbox",
  "ImageStatus",
  "CreateContainer",
  "StartContainer",
  "ListContainers",
  "ContainerStatus",
  "ExecSync",
  "StopContainer",
  "StopPodSandbox",
  "RemovePodSandbox",
  "Status",
] as const;

describe("a containerd with faults", { skip: reason ?? false }, () => {
  let instance: Instance;
  let proxy: CriProxy;
  before(async () => {
    instance = await Instance.create();
    const server = await instance.start({ args });
    await instance.end(server, "SIGTERM");
    const target = execFileSync("sh", ["-c", `sed -n 's/^address = "\\(.*\\)"$/\\1/p' ${path.join(instance.dataDir, "containerd.toml")}`], {
      encoding: "utf8",
    }).trim();
    const socket = path.join(path.dirname(target), "proxy.sock");
    proxy = await CriProxy.start({ path: socket, target });
    await instance.start({ args: [...args, "--containerd-socket", socket, "--kubelet.runtime-request-timeout=4s"] });
  });
  after(async () => {
    await instance?.endAll("SIGTERM");
    await proxy?.[Symbol.asyncDispose]();
    await instance?.[Symbol.asyncDispose]();
  });

  for (const call of calls) {
    test(`${call} that fails, breaks off and hangs`, async () => {
      const before = await nodeTraces(instance.dataDir);
      proxy.spoil(call, ["error", "vanish", "hang"]);
      const names = ["a", "b", "c"].map((letter) => `${call.toLowerCase()}-${letter}`);
      const container = {
        name: "c",
        image: "coracle.local/hello:v1",
        command: ["sleep", "1000000"],
        readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
      };
      for (const name of names)
        await instance.apply({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name, namespace: "default" },
          spec: { terminationGracePeriodSeconds: 1, containers: [container] },
        });
      await instance.kubectl("wait", "--for=condition=Ready", ...names.map((name) => `pod/${name}`), "--timeout=90s");
      await instance.kubectl("delete", "pod", ...names, "--timeout=90s");
      await until(
        async () => (proxy.left.length === 0 ? true : undefined),
        () => `each fault of ${call}; left: ${proxy.left.join()}`,
        60_000,
      );
      let left: Partial<NodeTraces> = {};
      await until(
        async () => (Object.keys((left = leftBetween(before, await nodeTraces(instance.dataDir)))).length === 0 ? true : undefined),
        () => `nothing left of the pods, but ${JSON.stringify(left)}`,
        60_000,
      );
    });
  }
});
