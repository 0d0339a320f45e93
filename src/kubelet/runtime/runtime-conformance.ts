/**
 * What every implementation of the runtime interface must do, as tests. Each implementation's test file calls `runtimeConformance`.
 * Waiting goes through events and results; where the runtime's time is virtual, `work` runs a step while the time is moved.
 */
import { sleep, systemClock } from "../../base/clock.ts";
import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { loopTurn } from "../../base/virtual-clock.ts";
import type { ContainerEvent, ContainerRuntime, StreamingSession } from "./cri.ts";
import { isRuntimeNotFound, RuntimeError } from "./cri.ts";
import type { ContainerConfig, PodSandboxConfig } from "./cri-messages.ts";

export interface ConformanceTarget {
  readonly name: string;
  /** Why it cannot run here. */
  readonly skip?: string | undefined;
  /** Whether commands really run: exec, logs, ports. */
  readonly runsPrograms: boolean;
  start(): Promise<ConformanceRuntime>;
}

export interface ConformanceRuntime {
  readonly runtime: ContainerRuntime;
  /** An image that is, or can be, present; its program runs until stopped and ends with code 0 at SIGTERM. */
  readonly image: string;
  readonly unpullableImage: string;
  readonly logDirectory?: string;
  /** Makes a container's own program end with `exitCode`: command for real ones, annotations for simulated ones. */
  ending(exitCode: number): { command?: readonly string[]; annotations?: Readonly<Record<string, string>> };
  /** A program that ignores SIGTERM. */
  stubborn(): { command?: readonly string[]; untilDeaf?: readonly string[]; annotations?: Readonly<Record<string, string>> };
  work<T>(step: Promise<T>): Promise<T>;
  /** "" while there is none. Only where programs run. */
  readLog?(path: string): Promise<string>;
  stop(): Promise<void>;
}

export function runtimeConformance(target: ConformanceTarget): void {
  describe(`runtime ${target.name}`, { skip: target.skip ?? false }, () => {
    let bench: Bench;
    before(async () => {
      bench = new Bench(await target.start());
    });
    after(async () => {
      await bench.target.stop();
    });
    sandboxTests(() => bench);
    containerTests(() => bench);
    if (target.runsPrograms) programTests(() => bench);
    imageTests(() => bench);
  });
}

class Bench {
  readonly target: ConformanceRuntime;
  #pods = 0;

  constructor(target: ConformanceRuntime) {
    this.target = target;
  }

  get runtime(): ContainerRuntime {
    return this.target.runtime;
  }

  async sandbox(annotations: Readonly<Record<string, string>> = {}): Promise<{ id: string; config: PodSandboxConfig }> {
    const name = `pod-${++this.#pods}`;
    const config: PodSandboxConfig = {
      metadata: { name, namespace: "default", uid: `uid-${name}`, attempt: 0 },
      hostname: name,
      labels: { app: name },
      annotations,
      ...(this.target.logDirectory === undefined ? {} : { log_directory: this.target.logDirectory }),
      linux: { security_context: { namespace_options: { network: "POD", pid: "CONTAINER", ipc: "POD" } } },
    };
    return { id: await this.target.work(this.runtime.runPodSandbox({ config })), config };
  }

  async container(sandbox: { id: string; config: PodSandboxConfig }, config: Partial<ContainerConfig> = {}): Promise<string> {
    const image = { image: this.target.image };
    if ((await this.runtime.imageStatus(image)) === undefined) await this.target.work(this.runtime.pullImage({ image }));
    const whole: ContainerConfig = {
      metadata: { name: "main", attempt: 0 },
      image,
      labels: { container: "main" },
      log_path: `${sandbox.config.metadata.name}.log`,
      linux: { security_context: { namespace_options: { network: "POD", pid: "CONTAINER", ipc: "POD" } } },
      ...config,
    };
    return this.runtime.createContainer({ pod_sandbox_id: sandbox.id, config: whole, sandbox_config: sandbox.config });
  }

  /** Runs `action` while listening; returns the events up to the first that `isLast` takes. */
  async eventsDuring(action: () => Promise<unknown>, isLast: (event: ContainerEvent) => boolean): Promise<ContainerEvent[]> {
    const stop = new AbortController();
    const seen: ContainerEvent[] = [];
    let acting: Promise<unknown> | undefined;
    const listening = (async () => {
      for await (const event of this.runtime.events(stop.signal)) {
        acting ??= action();
        seen.push(event);
        if (isLast(event)) break;
      }
    })();
    await this.target.work(listening);
    await acting;
    stop.abort();
    return seen;
  }

  async removed(sandboxId: string): Promise<void> {
    await this.target.work(this.runtime.stopPodSandbox(sandboxId));
    await this.target.work(this.runtime.removePodSandbox(sandboxId));
  }
}

function sandboxTests(bench: () => Bench): void {
  test("version and status", async () => {
    const { runtime } = bench();
    assert.equal((await runtime.version()).runtime_api_version, "v1");
    const { conditions } = await runtime.status();
    assert.deepEqual(
      conditions.map(({ type, status }) => [type, status]),
      [
        ["RuntimeReady", true],
        ["NetworkReady", true],
      ],
    );
  });

  test("a sandbox: run, list, status, stop, remove; stop and remove again", async () => {
    const { runtime, target } = bench();
    const { id, config } = await bench().sandbox();
    const [shown] = await runtime.listPodSandbox({ label_selector: config.labels! });
    assert.deepEqual([shown!.id, shown!.state, shown!.metadata], [id, "SANDBOX_READY", config.metadata]);
    const status = await runtime.podSandboxStatus(id);
    assert.match(status.network!.ip, /^\d+\.\d+\.\d+\.\d+$/);
    const other = await bench().sandbox();
    assert.notEqual((await runtime.podSandboxStatus(other.id)).network!.ip, status.network!.ip);
    await target.work(runtime.stopPodSandbox(id));
    await target.work(runtime.stopPodSandbox(id));
    assert.equal((await runtime.podSandboxStatus(id)).state, "SANDBOX_NOTREADY");
    assert.deepEqual(await runtime.listPodSandbox({ id, state: { state: "SANDBOX_READY" } }), []);
    await bench().removed(id);
    await bench().removed(id);
    await assert.rejects(runtime.podSandboxStatus(id), isRuntimeNotFound);
    await bench().removed(other.id);
  });

  test("a sandbox' name is taken once", async () => {
    const { runtime, target } = bench();
    const { id, config } = await bench().sandbox();
    await assert.rejects(
      target.work(runtime.runPodSandbox({ config })),
      /failed to reserve sandbox name "pod-\d+_default_uid-pod-\d+_0": name .* is reserved for /,
    );
    await bench().removed(id);
  });
}

function containerTests(bench: () => Bench): void {
  test("a container: created, running, stopped in grace, removed", async () => {
    const { runtime, target } = bench();
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox);
    assert.equal((await runtime.containerStatus(id)).state, "CONTAINER_CREATED");
    await target.work(runtime.startContainer(id));
    const running = await runtime.containerStatus(id);
    assert.deepEqual(
      [running.state, running.metadata, running.labels, running.exit_code],
      ["CONTAINER_RUNNING", { name: "main", attempt: 0 }, { container: "main" }, 0],
    );
    assert.ok(running.started_at >= running.created_at);
    const [listed] = await runtime.listContainers({ pod_sandbox_id: sandbox.id });
    assert.deepEqual([listed!.id, listed!.pod_sandbox_id, listed!.state], [id, sandbox.id, "CONTAINER_RUNNING"]);
    if (target.readLog !== undefined) await target.work(awaitLog(bench(), running.log_path));
    await target.work(runtime.stopContainer(id, 10));
    const stopped = await runtime.containerStatus(id);
    assert.deepEqual([stopped.state, stopped.exit_code, stopped.reason], ["CONTAINER_EXITED", 0, "Completed"]);
    assert.ok(stopped.finished_at >= stopped.started_at);
    await runtime.removeContainer(id);
    await runtime.removeContainer(id);
    await assert.rejects(runtime.containerStatus(id), isRuntimeNotFound);
    await target.work(runtime.stopContainer(id, 1));
    await bench().removed(sandbox.id);
  });

  test("an end of its own is heard once the status shows it", async () => {
    const { runtime } = bench();
    const { annotations = {}, command } = bench().target.ending(3);
    const sandbox = await bench().sandbox(annotations);
    const id = await bench().container(sandbox, command === undefined ? {} : { command });
    const events = await bench().eventsDuring(
      () => runtime.startContainer(id),
      ({ type, container_id }) => type === "CONTAINER_STOPPED" && container_id === id,
    );
    assert.equal(events[0]!.type, "RELIST");
    const own = events.filter((event) => event.container_id === id);
    assert.deepEqual(
      own.map(({ type, pod_sandbox_id, pod_uid }) => [type, pod_sandbox_id, pod_uid]),
      [
        ["CONTAINER_STARTED", sandbox.id, sandbox.config.metadata.uid],
        ["CONTAINER_STOPPED", sandbox.id, sandbox.config.metadata.uid],
      ],
    );
    const status = await runtime.containerStatus(id);
    assert.deepEqual([status.state, status.exit_code, status.reason], ["CONTAINER_EXITED", 3, "Error"]);
    await bench().removed(sandbox.id);
  });

  test("a program that ignores the stop signal is killed after its grace", async () => {
    const { runtime, target } = bench();
    const { annotations = {}, command, untilDeaf } = target.stubborn();
    const sandbox = await bench().sandbox(annotations);
    const id = await bench().container(sandbox, command === undefined ? {} : { command });
    await target.work(runtime.startContainer(id));
    if (untilDeaf !== undefined) await runtime.execSync({ container_id: id, cmd: untilDeaf, timeoutSeconds: 20 });
    await target.work(runtime.stopContainer(id, 1));
    const status = await runtime.containerStatus(id);
    assert.deepEqual([status.state, status.exit_code, status.reason], ["CONTAINER_EXITED", 137, "Error"]);
    await bench().removed(sandbox.id);
  });

  test("a second attempt beside the first; stopping the sandbox kills it", async () => {
    const { runtime, target } = bench();
    const sandbox = await bench().sandbox();
    const first = await bench().container(sandbox);
    await assert.rejects(bench().container(sandbox), /failed to reserve container name/);
    const second = await bench().container(sandbox, { metadata: { name: "main", attempt: 1 } });
    await target.work(runtime.startContainer(second));
    assert.deepEqual(new Set((await runtime.listContainers({ pod_sandbox_id: sandbox.id })).map(({ id }) => id)), new Set([first, second]));
    await target.work(runtime.stopPodSandbox(sandbox.id));
    assert.equal((await runtime.containerStatus(second)).state, "CONTAINER_EXITED");
    await bench().removed(sandbox.id);
    assert.deepEqual(await runtime.listContainers({ pod_sandbox_id: sandbox.id }), []);
  });

  test("resources can be changed while it runs", async () => {
    const { runtime, target } = bench();
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox);
    await target.work(runtime.startContainer(id));
    await runtime.updateContainerResources(id, { memory_limit_in_bytes: 64 * 1024 * 1024 });
    assert.equal((await runtime.containerStatus(id)).resources!.linux!.memory_limit_in_bytes, 64 * 1024 * 1024);
    await bench().removed(sandbox.id);
  });

  test("statistics name their container", async () => {
    const { runtime, target } = bench();
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox);
    await target.work(runtime.startContainer(id));
    const [stats] = await runtime.listContainerStats({ pod_sandbox_id: sandbox.id });
    assert.equal(stats!.attributes.id, id);
    assert.ok(stats!.memory!.working_set_bytes!.value > 0);
    await bench().removed(sandbox.id);
  });
}

function programTests(bench: () => Bench): void {
  const running = async () => {
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox, { envs: [{ key: "COLOUR", value: "blue" }] });
    await bench().target.work(bench().runtime.startContainer(id));
    return { sandbox, id };
  };

  test("execSync", async () => {
    const { runtime } = bench();
    const { sandbox, id } = await running();
    const result = await runtime.execSync({ container_id: id, cmd: ["sh", "-c", "echo $COLOUR; echo e >&2; exit 3"], timeoutSeconds: 20 });
    assert.deepEqual([text(result.stdout), text(result.stderr), result.exit_code], ["blue\n", "e\n", 3]);
    await assert.rejects(
      runtime.execSync({ container_id: id, cmd: ["sleep", "60"], timeoutSeconds: 1 }),
      (error) => error instanceof RuntimeError && error.reason === "DeadlineExceeded",
    );
    await bench().removed(sandbox.id);
  });

  test("exec with streams", async () => {
    const { runtime } = bench();
    const { sandbox, id } = await running();
    const flags = { container_id: id, tty: false, stdin: true, stdout: true, stderr: true };
    const cat = await runtime.openExec({ ...flags, cmd: ["sh", "-c", "cat; echo e >&2; exit 4"] });
    await cat.write(Buffer.from("typed\n"));
    cat.endInput();
    assert.deepEqual(await whole(cat), [
      "typed\n",
      "e\n",
      {
        outcome: "exited",
        exitCode: 4,
        message: "command terminated with non-zero exit code: error executing command [sh -c cat; echo e >&2; exit 4], exit code 4",
      },
    ]);
    const fine = await runtime.openExec({ ...flags, stdin: false, cmd: ["true"] });
    assert.deepEqual(await whole(fine), ["", "", { outcome: "success" }]);
    const missing = await runtime.openExec({ ...flags, stdin: false, cmd: ["/no/such"] });
    const [, , result] = await whole(missing);
    assert.match(result.outcome === "failed" ? result.message : "", /failed to exec in container: failed to start exec .*\/no\/such/);
    await bench().removed(sandbox.id);
  });

  test("exec on a terminal, resized", async () => {
    const { sandbox, id } = await running();
    // Nothing says when a resize has arrived, so the program looks until it has.
    const script = "read line; until [ \"$(stty size)\" = '33 99' ]; do sleep 0.05; done; stty size";
    const shell = await bench().runtime.openExec({ container_id: id, tty: true, stdin: true, stdout: true, stderr: false, cmd: ["sh", "-c", script] });
    shell.resize({ width: 99, height: 33 });
    await shell.write(Buffer.from("go\n"));
    const [output, , result] = await whole(shell);
    assert.deepEqual(result, { outcome: "success" });
    assert.match(output, /33 99\r\n/);
    await bench().removed(sandbox.id);
  });

  test("attach hears what is written from then on, and can type", async () => {
    const { runtime } = bench();
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox, { command: ["sh", "-c", "while read line; do echo got $line; [ $line = end ] && exit 0; done"], stdin: true });
    await runtime.startContainer(id);
    const session = await runtime.openAttach({ container_id: id, tty: false, stdin: true, stdout: true, stderr: true });
    // containerd says that it is attached a moment before it is: what is written until the first answer is heard may be lost.
    const chunks = session.stdout[Symbol.asyncIterator]();
    const first = chunks.next();
    await repeatUntil(first, () => session.write(Buffer.from("tea\n")));
    assert.match(text((await first).value ?? new Uint8Array()), /^got tea\n/);
    await session.write(Buffer.from("end\n"));
    let last = "";
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) last += text(next.value);
    assert.match(last, /got end\n$/);
    assert.deepEqual(await session.done, { outcome: "success" });
    await bench().removed(sandbox.id);
  });

  test("the log is in CRI's format, both streams", async () => {
    const { runtime } = bench();
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox, { command: ["sh", "-c", "echo one; sleep 0.1; echo two >&2; printf three; exit 0"] });
    await bench().eventsDuring(
      () => runtime.startContainer(id),
      ({ type, container_id }) => type === "CONTAINER_STOPPED" && container_id === id,
    );
    const log = await bench().target.readLog!((await runtime.containerStatus(id)).log_path);
    const lines = log
      .trimEnd()
      .split("\n")
      .map((line) => /^(\S+Z) (\w+) ([FP]) (.*)$/.exec(line)!.slice(2).join(" "));
    assert.deepEqual(lines.toSorted(), ["stderr F two", "stdout F one", "stdout P three"].toSorted());
    await bench().removed(sandbox.id);
  });

  test("a log that was moved away goes on in a new file", async () => {
    const { runtime } = bench();
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox, { command: ["sh", "-c", "echo old; read line; echo new"], stdin: true, stdin_once: true });
    await runtime.startContainer(id);
    const { log_path: path } = await runtime.containerStatus(id);
    await awaitLog(bench(), path);
    await rename(path, `${path}.1`);
    await runtime.reopenContainerLog(id);
    const session = await runtime.openAttach({ container_id: id, tty: false, stdin: true, stdout: true, stderr: true });
    session.endInput();
    assert.deepEqual(await whole(session), ["new\n", "", { outcome: "success" }]);
    assert.match(await bench().target.readLog!(path), /^\S+ stdout F new\n$/);
    assert.match(await bench().target.readLog!(`${path}.1`), /^\S+ stdout F old\n$/);
    await bench().removed(sandbox.id);
  });

  test("a program that does not exist cannot be started", async () => {
    const { runtime } = bench();
    const sandbox = await bench().sandbox();
    const id = await bench().container(sandbox, { command: ["/no/such"] });
    await assert.rejects(
      runtime.startContainer(id),
      (error) => error instanceof RuntimeError && error.reason === "Unknown" && error.message.includes('exec: "/no/such"'),
    );
    const status = await runtime.containerStatus(id);
    assert.deepEqual([status.state, status.exit_code, status.reason], ["CONTAINER_EXITED", 128, "StartError"]);
    await bench().removed(sandbox.id);
  });

  test("port-forward reaches the program; a closed port says so", async () => {
    const { runtime } = bench();
    const { sandbox, id } = await running();
    await awaitLog(bench(), (await runtime.containerStatus(id)).log_path);
    const session = await runtime.openPortForward(sandbox.id, 8080);
    await session.write(Buffer.from("GET / HTTP/1.0\r\n\r\n"));
    assert.match(await drain(session.output), new RegExp(`hello v1 from ${sandbox.config.hostname}`));
    assert.deepEqual(await session.done, {});
    const refused = await runtime.openPortForward(sandbox.id, 9);
    await drain(refused.output);
    assert.match((await refused.done).error!, /connection refused/);
    await bench().removed(sandbox.id);
  });
}

function imageTests(bench: () => Bench): void {
  test("images: status by name and id, list, a pull that fails", async () => {
    const { runtime, target } = bench();
    const image = { image: target.image };
    if ((await runtime.imageStatus(image)) === undefined) await target.work(runtime.pullImage({ image }));
    const shown = await runtime.imageStatus(image);
    assert.deepEqual(shown!.repo_tags, [target.image]);
    assert.equal((await runtime.imageStatus({ image: shown!.id }))!.id, shown!.id);
    assert.ok((await runtime.listImages()).some(({ id }) => id === shown!.id));
    assert.equal(await runtime.imageStatus({ image: target.unpullableImage }), undefined);
    const sandbox_config: PodSandboxConfig = {
      metadata: { name: "p", namespace: "default", uid: "u", attempt: 0 },
      annotations: { "simulated.coracle.dev/pull": "error=no such image" },
    };
    await assert.rejects(target.work(runtime.pullImage({ image: { image: target.unpullableImage }, sandbox_config })), RuntimeError);
  });
}

/** Until the program has said something, and so installed its signal handlers. */
async function awaitLog(bench: Bench, path: string): Promise<void> {
  while ((await bench.target.readLog!(path)) === "") await loopTurn();
}

/** Does something again every tenth of a second until `reached` resolves. */
async function repeatUntil(reached: Promise<unknown>, act: () => Promise<void>): Promise<void> {
  let isReached = false;
  const settled = reached.finally(() => (isReached = true));
  const clock = systemClock({ keepAlive: true });
  while (!isReached) {
    await act();
    await Promise.race([settled, sleep(clock, 100)]);
  }
}

async function whole(session: StreamingSession) {
  return [await drain(session.stdout), await drain(session.stderr), await session.done] as const;
}

async function drain(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return text(Buffer.concat(chunks));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
