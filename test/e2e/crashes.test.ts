/** Containers that end: killed for memory, crashing again and again, deleted; and how soon others are there. */
import assert from "node:assert/strict";
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
    await instance.kubectl("exec", "greedy", "--", "touch", "go");
    const ended = await until(async () => (await field("greedy", ".status.containerStatuses[0].lastState.terminated.reason")) || undefined, "an end", 30_000);
    assert.equal(ended, "OOMKilled");
    assert.equal(await field("greedy", ".status.containerStatuses[0].lastState.terminated.exitCode"), "137");
    await instance.kubectl("delete", "pod", "greedy", "--grace-period=0", "--force");
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
