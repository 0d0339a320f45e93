/** The etcd store is linearizable while its etcd, `etcd` on the PATH (Debian: etcd-server), is killed and comes back. */
import { equal } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { it } from "node:test";
import { VirtualClock } from "../../src/base/virtual-clock.ts";
import { openStore } from "../../src/storage/index.ts";
import { seedsOr } from "../../src/testing/seeds.ts";
import { checkSubject } from "../simulations/linearizability/check-subject.ts";
import { storeSubject } from "../simulations/linearizability/store-subject.ts";

if (spawnSync("etcd", ["--version"]).error === undefined) {
  it("linearizable: the etcd store, whose etcd is killed", { timeout: 3_600_000 }, async () => {
    for (let seed = 1; seed <= seedsOr(1); seed++) {
      const directory = await mkdtemp(join(tmpdir(), "coracle-etcd-"));
      const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
      const start = () => startEtcd(directory, client, peer);
      let etcd = await start();
      const store = await openStore({ backend: "etcd", endpoints: [client], clock: new VirtualClock() });
      const crash = async () => {
        await kill(etcd);
        etcd = await start();
      };
      const fault = await checkSubject(
        storeSubject(() => store, crash),
        seed,
        { patience: 5_000_000 },
      );
      await store.close();
      await kill(etcd);
      await rm(directory, { recursive: true });
      equal(fault, undefined, `seed ${seed}`);
    }
  });
} else {
  it.skip("needs etcd on the PATH", () => {});
}

async function startEtcd(directory: string, client: string, peer: string): Promise<ChildProcess> {
  const args = ["--data-dir", directory, "--listen-client-urls", client, "--advertise-client-urls", client];
  const child = spawn("etcd", [...args, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error("etcd ended")));
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.includes("ready to serve client requests")) resolve();
    });
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
