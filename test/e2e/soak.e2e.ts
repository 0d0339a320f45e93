/**
 * A thousand pods created and deleted in waves while API server, kubelet and containerd are killed every few seconds: at the end everything
 * runs that should, nothing else, and nothing is left of those that are gone. SOAK_PODS and SOAK_SEED choose another run.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../src/base/random.ts";
import { Instance, until, whyNoContainers } from "./instance.ts";
import { leftBetween, nodeTraces } from "./node-traces.ts";
import type { NodeTraces } from "./node-traces.ts";

const reason = await whyNoContainers();
const shared = ["--runtime", "containerd", "--pod-cidr", "10.227.0.0/16", "--service-cidr", "10.228.0.0/16"];
const wanted = Number(process.env["SOAK_PODS"] ?? 1000);
const waveSize = 50;
const seed = Number(process.env["SOAK_SEED"] ?? 1);
const args: Readonly<Record<string, readonly string[]>> = {
  apiserver: [...shared, "--port", "16477"],
  kubelet: [...shared, "--kubelet.port=16297"],
  "controller-manager": shared,
  scheduler: shared,
};

test("a soak", { skip: reason ?? false, timeout: 45 * 60_000 }, async (context) => {
  const random = seededRandom(seed);
  await using instance = await Instance.create();
  const processes = new Map<string, ChildProcess>();
  const start = async (command: string) => void processes.set(command, await instance.start({ command, args: args[command]! }));
  await start("apiserver");
  for (const command of ["controller-manager", "scheduler", "kubelet"]) await start(command);
  const before = await nodeTraces(instance.dataDir);
  /** What fails while the API server is away is asked again. */
  const insist = <T>(ask: () => Promise<T>, what: string) =>
    until(
      () =>
        ask().then(
          (value) => ({ value }),
          () => undefined,
        ),
      what,
      120_000,
    ).then(({ value }) => value);

  const stop = new AbortController();
  const kills: Record<string, number> = { apiserver: 0, kubelet: 0, containerd: 0 };
  const chaos = (async () => {
    while (!stop.signal.aborted) {
      await sleep(2000 + random.integer(4000), undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      const victim = Object.keys(kills)[random.integer(3)]!;
      kills[victim]! += 1;
      if (victim === "containerd") {
        const pid = Number(await readFile(path.join(instance.dataDir, "containerd.pid"), "utf8").catch(() => "0"));
        if (pid > 0) execFileSync("kill", ["-9", String(pid)], { stdio: "ignore" });
      } else {
        await instance.end(processes.get(victim)!, "SIGKILL");
        await start(victim);
      }
    }
  })();
  chaos.catch((error: unknown) => stop.abort(error));
  // Before the instance goes: what is killed is started again.
  await using _calm = {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await chaos.catch(() => undefined); // the wave that waited for it has told
    },
  };

  const startedAt = performance.now();
  let made = 0;
  let current: string[] = [];
  await instance.kubectl("create", "configmap", "told", "--from-literal=word=hello");
  for (let wave = 0; made < wanted; wave++) {
    const names = Array.from({ length: Math.min(waveSize, wanted - made) }, (_, index) => `w${wave}-${index}`);
    made += names.length;
    await insist(() => instance.apply({ apiVersion: "v1", kind: "List", items: names.map(podOf) }), `wave ${wave}`);
    if (current.length > 0)
      await insist(() => instance.kubectl("delete", "pods", ...current, "--wait=false", "--ignore-not-found"), `the end of wave ${wave - 1}`);
    current = names;
    // Some waves are given up half-made.
    if (wave % 3 !== 2) await untilRunning(instance, names);
    stop.signal.throwIfAborted();
    context.diagnostic(`${made} pods after ${((performance.now() - startedAt) / 1000).toFixed(0)} s; kills: ${JSON.stringify(kills)}`);
  }
  stop.abort();
  await chaos;
  await untilRunning(instance, current);
  await until(
    async () => (running().length === current.length ? true : undefined),
    () => `only the last wave, but ${running().join()}`,
    120_000,
  );
  assert.deepEqual(running(), current.toSorted());
  assert.equal(await instance.kubectl("exec", current[0]!, "--", "cat", "/told/word"), "hello");
  await instance.kubectl("delete", "pods", "--all", "--timeout=120s");
  let left: Partial<NodeTraces> = {};
  await until(
    async () => (Object.keys((left = leftBetween(before, await nodeTraces(instance.dataDir)))).length === 0 ? true : undefined),
    () => `nothing left of the pods, but ${JSON.stringify(left)}`,
    120_000,
  );
  assert.ok(
    Object.values(kills).every((count) => count > 0),
    JSON.stringify(kills),
  );
});

function podOf(name: string): object {
  const container = {
    name: "c",
    image: "coracle.local/hello:v1",
    command: ["sh", "-c", `trap 'exit 0' TERM; : pod=${name}; while :; do sleep 1; done`],
    resources: { requests: { cpu: "1m" } },
    volumeMounts: [
      { name: "told", mountPath: "/told" },
      { name: "memory", mountPath: "/memory" },
    ],
  };
  const volumes = [
    { name: "told", configMap: { name: "told" } },
    { name: "memory", emptyDir: { medium: "Memory" } },
  ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { terminationGracePeriodSeconds: 2, containers: [container], volumes },
  };
}

async function untilRunning(instance: Instance, names: readonly string[]): Promise<void> {
  let ready = new Set<string>();
  await until(
    async () => {
      const listed = await instance
        .kubectl("get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=='Ready')].status}{'\\n'}{end}")
        .catch(() => "");
      ready = new Set(listed.split("\n").flatMap((line) => (line.endsWith(" True") ? [line.split(" ")[0]!] : [])));
      return names.every((name) => ready.has(name)) ? true : undefined;
    },
    () => `each of the wave, but ${names.filter((name) => !ready.has(name)).join()}`,
    300_000,
  );
}

/** The pods whose program the machine runs, each as often as it runs. */
function running(): string[] {
  const listed = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
  return [...listed.matchAll(/^sh -c trap 'exit 0' TERM; : pod=(\S+);/gm)].map((match) => match[1]!).toSorted();
}
