import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { startPrograms } from "../../host/programs.ts";
import { createImageLoader } from "../images/image-loader.ts";
import { connectContainerd } from "./containerd.ts";
import { startContainerd } from "./containerd-instance.ts";
import { runtimeConformance } from "./runtime-conformance.ts";

runtimeConformance({
  name: "containerd",
  skip: whyNot(),
  runsPrograms: true,
  start: async () => {
    const clock = systemClock({ keepAlive: true });
    const programs = startPrograms({ clock });
    const directory = await mkdtemp("/run/coracle-test-");
    const cniConfDirectory = join(directory, "cni");
    const logDirectory = join(directory, "logs");
    for (const path of [cniConfDirectory, logDirectory]) await mkdir(path);
    const bridge = `ct${process.pid}`;
    const ipam = { type: "host-local", dataDir: join(directory, "ipam"), ranges: [[{ subnet: "10.198.0.0/24" }]] };
    await writeFile(join(cniConfDirectory, "10-test.conflist"), JSON.stringify({
      cniVersion: "0.4.0", name: bridge, plugins: [{ type: "bridge", bridge, isGateway: true, ipam }],
    }));
    const instance = await startContainerd({ programs, clock, log: silentLog, dataDirectory: join(directory, "data"), runtimeDirectory: directory, cniConfDirectory });
    const runtime = connectContainerd({ socketPath: instance.socketPath, clock });
    await createImageLoader({ programs, images: runtime, clock, socketPath: instance.socketPath, snapshotter: instance.snapshotter }).ensureBuiltinImages();
    return {
      runtime,
      image: "coracle.local/hello:v1",
      unpullableImage: "127.0.0.1:1/none:v1",
      logDirectory,
      ending: (exitCode) => ({ command: ["sh", "-c", `exit ${exitCode}`] }),
      stubborn: () => ({ command: ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"] }),
      work: (step) => step,
      readLog: (path) => readFile(path, "utf8").catch(() => ""),
      stop: async () => {
        await runtime.close();
        await instance.reset();
        await programs.run({ command: "ip", args: ["link", "del", bridge] });
        await programs.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  },
});

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
