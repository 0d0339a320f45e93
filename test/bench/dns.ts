/**
 * `npm run bench dns [-- SERVICES]`: answers per second of CPU of the DNS server with SERVICES Services (default 30,000), asked over real
 * UDP sockets by a process of its own, 64 queries in flight. Exits 1 under the budget.
 */
import { fork } from "node:child_process";
import { createSocket } from "node:dgram";

import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createResponder } from "../../src/dns/responder.ts";
import { listenDns } from "../../src/dns/server.ts";
import type { ClusterView } from "../../src/dns/zone.ts";
import type { Service } from "../../src/api/core-v1/types.ts";

const budgetPerSecond = 35_000;
const seconds = 5;
const inFlight = 64;

if (process.argv[2] === "--client") askForever(Number(process.argv[3]), Number(process.argv[4]));
else await measure(Number(process.argv[2] ?? 30_000));

async function measure(count: number): Promise<void> {
  const clock = systemClock({ keepAlive: true });
  const services = new Map<string, Service>();
  for (let index = 0; index < count; index++) {
    const metadata = { namespace: `ns-${index % 100}`, name: `service-${index}` };
    const clusterIP = `10.0.${(index >> 8) & 255}.${index & 255}`;
    services.set(`${metadata.namespace}/${metadata.name}`, { metadata, spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ name: "http", port: 80 }] } });
  }
  const view: ClusterView = {
    zone: "cluster.local",
    ttlSeconds: 5,
    serial: 1,
    hasNamespace: () => true,
    service: (namespace, name) => services.get(`${namespace}/${name}`),
    slicesOf: () => [],
    servicesByAddress: () => [],
    slicesByAddress: () => [],
  };
  let answers = 0;
  const respond = createResponder(view, { ask: async () => undefined });
  const counting = (message: Uint8Array, isTcp: boolean) => ((answers += 1), respond(message, isTcp));
  const listener = await listenDns({ address: "127.0.0.1", port: 0 }, counting, silentLog);
  const client = fork(import.meta.filename, ["--client", String(listener.port), String(count)]);
  await new Promise((resolve) => clock.after(1_500, () => resolve(undefined)));
  answers = 0;
  const [cpuBefore, startMs] = [process.cpuUsage(), clock.monotonicMs()];
  await new Promise((resolve) => clock.after(seconds * 1000, () => resolve(undefined)));
  const cpu = process.cpuUsage(cpuBefore);
  const cpuSeconds = (cpu.user + cpu.system) / 1e6;
  const row = {
    services: count,
    answers,
    "answers/s": Math.round(answers / ((clock.monotonicMs() - startMs) / 1000)),
    "answers per CPU second": Math.round(answers / cpuSeconds),
  };
  client.kill("SIGKILL");
  await listener.close();
  console.table([row]);
  console.log(JSON.stringify(row));
  process.exit(row["answers per CPU second"] < budgetPerSecond ? 1 : 0);
}

/** Half of the names exist as they are; the others are what a search path asks first. */
function askForever(port: number, count: number): void {
  const queries = Array.from({ length: 1_000 }, (_, index) => {
    const id = (index * 37) % count;
    const name = `service-${id}.ns-${id % 100}.svc.cluster.local`;
    return question(index, index % 2 === 0 ? name : `${name}.default.svc.cluster.local`);
  });
  const socket = createSocket("udp4");
  let next = 0;
  const send = () => socket.send(queries[next++ % queries.length]!);
  socket.on("message", send);
  socket.connect(port, "127.0.0.1", () => {
    for (let index = 0; index < inFlight; index++) send();
  });
}

function question(id: number, name: string): Uint8Array {
  const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Uint8Array.from([id >> 8, id & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]);
}
