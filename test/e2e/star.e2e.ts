/** Each component as its own process; the main path, then again after each of them was killed and started again. */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, whyNoContainers } from "./instance.ts";

const reason = await whyNoContainers();
const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");
const shared = ["--runtime", "containerd", "--pod-cidr", "10.213.0.0/16", "--service-cidr", "10.214.0.0/16"];
const components = ["controller-manager", "scheduler", "kubelet", "proxy", "dns"];

describe("the star", { skip: reason ?? false }, () => {
  let instance: Instance;
  const processes = new Map<string, ChildProcess>();
  const argsOf = (command: string) => [...shared, ...(command === "apiserver" ? ["--port", "16446"] : command === "kubelet" ? ["--kubelet.port=16253"] : [])];
  const startAll = async () => {
    processes.set("apiserver", await instance.start({ command: "apiserver", args: argsOf("apiserver") }));
    for (const [index, child] of (await Promise.all(components.map((command) => instance.start({ command, args: argsOf(command) })))).entries())
      processes.set(components[index]!, child);
  };
  before(async () => {
    instance = await Instance.create();
    await startAll();
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });

  test("the main path works", async () => {
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    assert.match(await instance.kubectl("exec", "deployment/hello", "--", "wget", "-qO-", "http://hello"), /^hello v1/);
  });

  test("it works again after every process was killed and started again", async () => {
    for (const child of processes.values()) await instance.end(child, "SIGKILL");
    await startAll();
    await instance.kubectl("set", "image", "deployment/hello", "hello=coracle.local/hello:v2");
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    await instance.kubectl("scale", "deployment", "hello", "--replicas=4");
    await instance.kubectl("rollout", "status", "deployment/hello", "--timeout=60s");
    assert.match(await instance.kubectl("exec", "deployment/hello", "--", "wget", "-qO-", "http://hello"), /^hello v2/);
  });
});
