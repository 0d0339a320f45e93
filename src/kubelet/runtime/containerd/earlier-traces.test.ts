import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "../../../base/log.ts";
import { readCommandLine } from "../../../host/processes.ts";
import { RuntimeError } from "../cri.ts";
import { endShims, noteTraces, removeTraces } from "./earlier-traces.ts";
import type { KnownSandboxes } from "./earlier-traces.ts";

test("traces of a killed containerd: what its successor does not know goes; what is known, or was begun later, stays", async () => {
  await using bench = await startBench();
  const known = await bench.makeSandbox("known", "10.0.0.2");
  const lost = await bench.makeSandbox("lost", "10.0.0.3");
  const foreign = await bench.makeShim("foreign", "/run/somebody/else.sock");
  await noteTraces(bench.options);
  const begun = await bench.makeSandbox("begun", "10.0.0.4");
  assert.notEqual(begun, known);

  await removeTraces(bench.options, bench.knows("known"));
  await ended(lost);
  assert.equal(lost.signalCode, "SIGKILL");
  assert.deepEqual(await bench.left(), { namespaces: ["ns-begun", "ns-known"], addresses: ["10.0.0.2", "10.0.0.4", "lock"], bundles: ["begun", "known"] });
  for (const shim of [known, begun, foreign]) assert.notEqual((await readCommandLine(shim.pid!)).length, 0);
  assert.deepEqual(bench.unmounted, ["below lost", "ns-lost"]);

  // A shim that its containerd cannot connect to outlives the sandbox; the address is the runtime's to give back.
  await removeTraces(bench.options, bench.knows());
  await ended(known);
  assert.deepEqual(await bench.left(), { namespaces: ["ns-begun", "ns-known"], addresses: ["10.0.0.2", "10.0.0.4", "lock"], bundles: ["begun"] });
  await assert.rejects(readFile(bench.options.file), { code: "ENOENT" });
  await removeTraces(bench.options, bench.knows());
  assert.notEqual((await readCommandLine(begun.pid!)).length, 0);
});

test("traces of a killed containerd: while it cannot be asked nothing goes, and all is tried again", async () => {
  await using bench = await startBench();
  const shim = await bench.makeSandbox("known", "10.0.0.2");
  await noteTraces(bench.options);
  const unavailable = new RuntimeError("Unavailable", "no connection");
  const away: KnownSandboxes = { list: () => Promise.reject(unavailable), networkNamespace: () => Promise.reject(unavailable) };
  await assert.rejects(removeTraces(bench.options, away), unavailable);
  const halfAway: KnownSandboxes = { list: async () => ["known"], networkNamespace: () => Promise.reject(unavailable) };
  await assert.rejects(removeTraces(bench.options, halfAway), unavailable);
  assert.deepEqual(await bench.left(), { namespaces: ["ns-known"], addresses: ["10.0.0.2", "lock"], bundles: ["known"] });

  // Listed, and gone when it is asked for: its namespace is nobody's.
  const going: KnownSandboxes = { list: async () => ["known"], networkNamespace: () => Promise.reject(new RuntimeError("NotFound", "gone")) };
  await removeTraces(bench.options, going);
  assert.deepEqual((await bench.left()).namespaces, []);
  await endShims(bench.options.socketPath);
  await ended(shim);
});

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

async function startBench() {
  const directory = await mkdtemp(join(tmpdir(), "coracle-traces-"));
  const stateDirectory = join(directory, "state");
  const namespaces = join(stateDirectory, "io.containerd.grpc.v1.cri", "netns");
  const bundles = join(stateDirectory, "io.containerd.runtime.v2.task", "k8s.io");
  const addressDirectory = join(directory, "addresses");
  for (const one of [namespaces, bundles, join(addressDirectory, "net")]) await mkdir(one, { recursive: true });
  await writeFile(join(addressDirectory, "net", "lock"), "");
  const unmounted: string[] = [];
  const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  const mounts = {
    unmount: async (path: string) => void unmounted.push(nameOf(path)),
    unmountBelow: async (path: string) => void unmounted.push(`below ${nameOf(path)}`),
  };
  const options = {
    file: join(directory, "traces.json"),
    stateDirectory,
    socketPath: join(directory, "containerd.sock"),
    addressDirectory,
    mounts,
    log: silentLog,
  };
  const makeShim = async (id: string, socketPath = options.socketPath) => {
    // A process of that name and with those words; it ends with its standard input, so with us.
    const child = spawn(
      process.execPath,
      ["-e", "process.stdin.resume(); console.log('up')", "--", "-namespace", "k8s.io", "-id", id, "-address", socketPath],
      {
        argv0: "/usr/bin/containerd-shim-runc-v2",
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    await once(child.stdout, "data");
    return child;
  };
  const shims: Awaited<ReturnType<typeof makeShim>>[] = [];
  return {
    options,
    unmounted,
    makeShim: async (...args: Parameters<typeof makeShim>) => {
      const shim = await makeShim(...args);
      shims.push(shim);
      return shim;
    },
    async makeSandbox(id: string, address: string) {
      await writeFile(join(namespaces, `ns-${id}`), "");
      await mkdir(join(bundles, id));
      await writeFile(join(addressDirectory, "net", address), `${id}\r\neth0`);
      return this.makeShim(id);
    },
    knows: (...ids: string[]): KnownSandboxes => ({ list: async () => ids, networkNamespace: async (id) => join(namespaces, `ns-${id}`) }),
    left: async () => ({
      namespaces: (await readdir(namespaces)).toSorted(),
      addresses: (await readdir(join(addressDirectory, "net"))).toSorted(),
      bundles: (await readdir(bundles)).toSorted(),
    }),
    async [Symbol.asyncDispose]() {
      for (const shim of shims) shim.kill("SIGKILL");
      await rm(directory, { recursive: true, force: true });
    },
  };
}
