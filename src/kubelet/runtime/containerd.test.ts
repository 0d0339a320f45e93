import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { createMounts } from "../../host/mounts.ts";
import { startPrograms } from "../../host/programs.ts";
import { createImageLoader } from "../images/image-loader.ts";
import { connectContainerd } from "./containerd.ts";
import { startContainerd } from "./containerd-instance.ts";
import type { ContainerRuntime } from "./cri.ts";
import type { PodSandboxConfig } from "./cri-messages.ts";
import { runtimeConformance } from "./runtime-conformance.ts";

const clock = systemClock({ keepAlive: true });
const image = { image: "coracle.local/hello:v1" };

runtimeConformance({
  name: "containerd",
  skip: whyNot(),
  runsPrograms: true,
  start: async () => {
    const bench = await startBench("10.198.0.0/24");
    const logDirectory = join(bench.directory, "logs");
    await mkdir(logDirectory);
    return {
      runtime: bench.runtime,
      image: image.image,
      unpullableImage: "127.0.0.1:1/none:v1",
      logDirectory,
      ending: (exitCode) => ({ command: ["sh", "-c", `exit ${exitCode}`] }),
      stubborn: () => ({
        command: ["sh", "-c", "trap '' TERM; : > deaf; while :; do sleep 1; done"],
        untilDeaf: ["sh", "-c", "until [ -e deaf ]; do sleep 0.1; done"],
      }),
      work: (step) => step,
      readLog: (path) => readFile(path, "utf8").catch(() => ""),
      stop: () => bench.remove(),
    };
  },
});

test(
  "containerd killed: it is started again, and its containers went on; a second start adopts it; reset leaves nothing",
  { skip: whyNot() ?? false },
  async () => {
    const bench = await startBench("10.196.0.0/24");
    const { runtime, instance } = bench;
    const container = await startedContainer(runtime);
    const before = await runtime.containerStatus(container);
    const pidFile = join(bench.options.dataDirectory, "containerd.pid");
    const pid = Number(await readFile(pidFile, "utf8"));
    const stop = new AbortController();
    const running = instance.run(stop.signal);
    let relists = 0;
    for await (const event of runtime.events(stop.signal)) {
      if (event.type !== "RELIST") continue;
      relists++;
      if (relists === 1) process.kill(pid, "SIGKILL");
      else break;
    }
    assert.deepEqual(await runtime.containerStatus(container), before);
    stop.abort();
    await running;

    const newPid = await readFile(pidFile, "utf8");
    assert.notEqual(newPid, String(pid));
    const again = await startContainerd(bench.options);
    assert.equal(await readFile(pidFile, "utf8"), newPid);
    assert.equal(again.socketPath, instance.socketPath);

    const { dataDirectory } = bench.options;
    await bench.remove();
    await assert.rejects(access(join(dataDirectory, "containerd")));
    const left = (await createMounts(bench.options).list()).filter(({ mountPoint }) => mountPoint.startsWith(bench.directory));
    assert.deepEqual(left, []);
  },
);

async function startBench(subnet: string) {
  const programs = startPrograms({ clock });
  const directory = await mkdtemp("/run/coracle-test-");
  const cniConfDirectory = join(directory, "cni");
  await mkdir(cniConfDirectory);
  const bridge = `ct${directory.slice(-6)}`;
  const ipam = { type: "host-local", dataDir: join(directory, "ipam"), ranges: [[{ subnet }]] };
  const network = { cniVersion: "0.4.0", name: bridge, plugins: [{ type: "bridge", bridge, isGateway: true, ipam }] };
  await writeFile(join(cniConfDirectory, "10-test.conflist"), JSON.stringify(network));
  const options = { programs, clock, log: silentLog, dataDirectory: join(directory, "data"), runtimeDirectory: directory, cniConfDirectory };
  const instance = await startContainerd(options);
  const runtime = connectContainerd({ socketPath: instance.socketPath, clock });
  await createImageLoader({ programs, images: runtime, clock, socketPath: instance.socketPath, snapshotter: instance.snapshotter }).ensureBuiltinImages();
  const remove = async () => {
    await runtime.close();
    await instance.reset();
    await programs.run({ command: "ip", args: ["link", "del", bridge] });
    await programs.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { directory, options, instance, runtime, remove };
}

async function startedContainer(runtime: ContainerRuntime): Promise<string> {
  const sandbox_config: PodSandboxConfig = { metadata: { name: "p", namespace: "default", uid: "u", attempt: 0 } };
  const pod_sandbox_id = await runtime.runPodSandbox({ config: sandbox_config });
  const id = await runtime.createContainer({ pod_sandbox_id, sandbox_config, config: { metadata: { name: "c", attempt: 0 }, image } });
  await runtime.startContainer(id);
  return id;
}

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return "needs root";
  if (!existsSync("/bin/busybox")) return "needs busybox-static";
  for (const program of ["containerd", "runc", "ctr", "ip"]) {
    try {
      execFileSync("sh", ["-c", `command -v ${program}`]);
    } catch {
      return `needs ${program}`;
    }
  }
  return undefined;
}
