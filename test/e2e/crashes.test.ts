/** Containers that end: killed for memory, crashing again and again, deleted; and how soon others are there. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { Instance, until, whyNoContainers } from "./instance.ts";

const reason = await whyNoContainers();
const hello = path.resolve(import.meta.dirname, "../../examples/hello.yaml");

describe("containers that end", { skip: reason ?? false }, () => {
  let instance: Instance;
  before(async () => {
    instance = await Instance.create();
    await instance.start({
      args: ["--runtime", "containerd", "--port", "16459", "--pod-cidr", "10.217.0.0/16", "--service-cidr", "10.218.0.0/16", "--kubelet.port=16267"],
    });
  });
  after(async () => {
    await instance[Symbol.asyncDispose]();
  });
  const run = (name: string, spec: Record<string, unknown>) =>
    instance.kubectl(
      "run",
      name,
      "--image=coracle.local/hello:v1",
      `--overrides=${JSON.stringify({ spec: { containers: [{ name, image: "coracle.local/hello:v1", ...spec }] } })}`,
    );
  const field = (pod: string, jsonpath: string) => instance.kubectl("get", "pod", pod, "-o", `jsonpath={${jsonpath}}`);

  test("a deleted pod's replacement runs within a second", async (context) => {
    await instance.kubectl("apply", "-f", hello);
    await instance.kubectl("wait", "--for=condition=Available", "deployment/hello", "--timeout=60s");
    const [deleted] = (await instance.kubectl("get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[*].metadata.name}")).split(" ");
    const shown = "jsonpath={.object.metadata.name} {.object.status.phase} {.object.metadata.deletionTimestamp}{'\\n'}";
    await using watch = instance.startKubectl(["get", "pods", "-l", "app=hello", "--watch-only", "--output-watch-events", "-o", shown]);
    await instance.kubectl("delete", "pod", deleted!, "--wait=false");
    await watch.saw(new RegExp(`^${deleted} Running 20`, "m"));
    const startedAt = performance.now();
    await watch.saw(new RegExp(`^(?!${deleted})\\S+ Running $`, "m"));
    const tookMs = performance.now() - startedAt;
    context.diagnostic(`the replacement ran after ${tookMs.toFixed(0)} ms`);
    assert.ok(tookMs < 1000, `the replacement ran after ${tookMs.toFixed(0)} ms`);
  });

  test("a container's memory limit is its control group's, and one that wants more is killed for it", async () => {
    await run("greedy", {
      resources: { limits: { memory: "32Mi" } },
      command: ["sh", "-c", "while [ ! -e go ]; do sleep 0.1; done; head -c 100000000 /dev/zero | tail"],
    });
    await instance.kubectl("wait", "--for=condition=Ready", "pod/greedy", "--timeout=60s");
    // The file's name differs between the versions of control groups.
    const limit = await instance.kubectl(
      "exec",
      "greedy",
      "--",
      "sh",
      "-c",
      "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || true",
    );
    assert.equal(limit, String(32 * 1024 * 1024));
    const uid = await field("greedy", ".metadata.uid");
    // The pod's own group: below that of its class, limited where all its containers are.
    const group = podGroups(uid).find(
      (directory) => existsSync(path.join(directory, "memory.max")) || existsSync(path.join(directory, "memory.limit_in_bytes")),
    );
    assert.match(group ?? "no group", /\/coracle-\w+\/kubepods\/burstable\/pod[^/]+$/);
    const file = ["memory.max", "memory.limit_in_bytes"].map((name) => path.join(group!, name)).find((name) => existsSync(name));
    assert.equal(readFileSync(file!, "utf8").trim(), String(32 * 1024 * 1024));
    await instance.kubectl("exec", "greedy", "--", "touch", "go");
    const ended = await until(async () => (await field("greedy", ".status.containerStatuses[0].lastState.terminated.reason")) || undefined, "an end", 30_000);
    assert.equal(ended, "OOMKilled");
    assert.equal(await field("greedy", ".status.containerStatuses[0].lastState.terminated.exitCode"), "137");
    await instance.kubectl("delete", "pod", "greedy", "--grace-period=1");
    await until(async () => (podGroups(uid).length === 0 ? true : undefined), "the group's removal");
  });

  test("a container that crashes is started again after ten seconds, then after twenty", async () => {
    await run("crashing", { command: ["sh", "-c", "exit 7"] });
    const waits = new Set<string>();
    await until(
      async () => {
        const [, seconds] =
          /^back-off (\w+) restarting failed container=crashing pod=crashing_default\(.*\)$/.exec(
            await field("crashing", ".status.containerStatuses[0].state.waiting.message"),
          ) ?? [];
        if (seconds !== undefined) waits.add(seconds);
        return waits.has("20s") ? true : undefined;
      },
      "a wait of twenty seconds",
      60_000,
    );
    assert.deepEqual([...waits], ["10s", "20s"]);
    assert.equal(await field("crashing", ".status.containerStatuses[0].state.waiting.reason"), "CrashLoopBackOff");
    assert.equal(await field("crashing", ".status.containerStatuses[0].lastState.terminated.exitCode"), "7");
    assert.match(await instance.kubectl("get", "pod", "crashing"), /0\/1 +CrashLoopBackOff +2 \(/);
  });
});

/** A pod's control groups: one, or one for each controller. */
function podGroups(uid: string): string[] {
  return execFileSync("find", ["/sys/fs/cgroup", "-type", "d", "-name", `pod${uid}`], { encoding: "utf8" })
    .split("\n")
    .filter(Boolean);
}
