import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { systemRandom } from "../../base/random.ts";
import { loopTurn } from "../../base/virtual-clock.ts";
import { readProcess } from "../../host/processes.ts";
import { startPrograms } from "../../host/programs.ts";
import type { Programs } from "../../host/programs.ts";
import type { ContainerRuntime } from "./cri.ts";
import type { PodSandboxConfig } from "./cri-messages.ts";
import { startProcessRuntime } from "./process.ts";
import { runtimeConformance } from "./runtime-conformance.ts";

const clock = systemClock({ keepAlive: true });

runtimeConformance({
  name: "process",
  runsPrograms: true,
  start: async () => {
    const programs = startPrograms({ clock });
    const directory = await mkdtemp(join(tmpdir(), "cp-"));
    const runtime = await start(programs, directory);
    return {
      runtime,
      image: "coracle.local/hello:v1",
      unpullableImage: "coracle.local/none:v1",
      logDirectory: join(directory, "logs"),
      ending: (exitCode) => ({ command: ["sh", "-c", `exit ${exitCode}`] }),
      stubborn: () => ({
        command: ["sh", "-c", "trap '' TERM; : > deaf; while :; do sleep 1; done"],
        untilDeaf: ["sh", "-c", "until [ -e deaf ]; do sleep 0.1; done"],
      }),
      work: (step) => step,
      readLog: (path) => readFile(path, "utf8").catch(() => ""),
      stop: async () => {
        await runtime.close();
        await programs.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  },
});

describe("runtime process: what outlives the runtime", () => {
  let programs: Programs;
  let directory: string;
  before(async () => {
    programs = startPrograms({ clock });
    directory = await mkdtemp(join(tmpdir(), "cp-"));
  });
  after(async () => {
    await programs.close();
    await rm(directory, { recursive: true, force: true });
  });

  test("containers go on under a new runtime, with their ids; an end meanwhile keeps its code", async () => {
    const first = await start(programs, directory);
    const { id, config } = await sandbox(first, "adopted");
    const staying = await started(first, { id, config }, "staying", ["sleep", "600"]);
    // A pipe made by the shell: it ends when we say so, after the first runtime has gone.
    const ending = await started(first, { id, config }, "ending", ["sh", "-c", "read line; exit 7"]);
    const before = await first.containerStatus(staying);
    const { network } = await first.podSandboxStatus(id);
    const typing = await first.openAttach({ container_id: ending, stdin: true, stdout: true, stderr: true, tty: false });
    await first.close();
    await typing.write(Buffer.from("go\n"));
    await typing.done;

    const second = await start(programs, directory);
    const shown = await second.podSandboxStatus(id);
    assert.deepEqual([shown.state, shown.network], ["SANDBOX_READY", network]);
    assert.deepEqual(await second.containerStatus(staying), before);
    const ended = await second.containerStatus(ending);
    assert.deepEqual([ended.state, ended.exit_code, ended.reason], ["CONTAINER_EXITED", 7, "Error"]);
    await second.stopContainer(staying, 5);
    assert.equal((await second.containerStatus(staying)).exit_code, 143);
    await second.stopPodSandbox(id);
    await second.removePodSandbox(id);
    await second.close();
    const third = await start(programs, directory);
    assert.deepEqual(await third.listPodSandbox(), []);
    await third.close();
  });

  test("a supervisor that is killed takes its pod with it", async () => {
    const runtime = await start(programs, directory);
    const { id, config } = await sandbox(runtime, "killed");
    const container = await started(runtime, { id, config }, "main", ["sh", "-c", "echo $PPID $$; exec sleep 600"]);
    const result = await runtime.execSync({ container_id: container, cmd: ["sh", "-c", `cat ${config.log_directory}/main.log`], timeoutSeconds: 5 });
    let line = Buffer.from(result.stdout).toString();
    while (line === "") line = await readFile(join(config.log_directory!, "main.log"), "utf8");
    const [, supervisor, program] = /F (\d+) (\d+)/.exec(line)!.map(Number);
    const stop = new AbortController();
    for await (const event of runtime.events(stop.signal)) {
      if (event.type === "RELIST") process.kill(supervisor!, "SIGKILL");
      if (event.type === "CONTAINER_STOPPED" && event.container_id === container) break;
    }
    stop.abort();
    assert.equal((await runtime.podSandboxStatus(id)).state, "SANDBOX_NOTREADY");
    assert.equal((await runtime.containerStatus(container)).exit_code, 137);
    while ((await readProcess(program!))?.isZombie === false) await loopTurn();
    await runtime.removePodSandbox(id);
    await runtime.close();
  });
});

function start(programs: Programs, directory: string): Promise<ContainerRuntime> {
  return startProcessRuntime({
    programs,
    clock,
    random: systemRandom(),
    log: silentLog,
    stateDirectory: join(directory, "pods"),
    socketDirectory: join(directory, "sockets"),
  });
}

async function sandbox(runtime: ContainerRuntime, name: string): Promise<{ id: string; config: PodSandboxConfig }> {
  const logDirectory = await mkdtemp(join(tmpdir(), "cp-logs-"));
  after(() => rm(logDirectory, { recursive: true, force: true }));
  const config: PodSandboxConfig = { metadata: { name, namespace: "default", uid: name, attempt: 0 }, log_directory: logDirectory };
  return { id: await runtime.runPodSandbox({ config }), config };
}

async function started(runtime: ContainerRuntime, pod: { id: string; config: PodSandboxConfig }, name: string, command: readonly string[]): Promise<string> {
  const image = { image: "coracle.local/hello:v1" };
  const id = await runtime.createContainer({
    pod_sandbox_id: pod.id,
    sandbox_config: pod.config,
    config: { metadata: { name, attempt: 0 }, image, command, stdin: true, log_path: `${name}.log` },
  });
  await runtime.startContainer(id);
  return id;
}
