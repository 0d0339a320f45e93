import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Pod, Service } from "../../api/core-v1/types.ts";
import { planService } from "../plan.ts";
import { BackendChooser } from "./choose-backend.ts";
import { forwardedPlace, listenPlan, serviceLoopbackAddress, serviceLoopbackPort } from "./listen-plan.ts";
import { loopbackSlices } from "./loopback-slices.ts";
import { listenTcp } from "./tcp-forwarder.ts";
import { listenUdp } from "./udp-forwarder.ts";

const instanceId = "abc";
const service: Service = {
  metadata: { namespace: "d", name: "web" },
  spec: {
    type: "NodePort",
    clusterIP: "10.0.3.7",
    selector: { app: "web" },
    ports: [
      { name: "http", port: 80, targetPort: "web", nodePort: 30080 },
      { name: "high", port: 9000 },
    ],
  },
};
const pod = (name: string, podIP: string, ready: string, labels: Record<string, string> = { app: "web" }): Pod => ({
  metadata: { namespace: "d", name, labels },
  spec: { nodeName: "n1", containers: [{ name: "c", ports: [{ name: "web", containerPort: 8080 }] }] },
  status: { phase: "Running", podIP, conditions: [{ type: "Ready", status: ready }] },
});

test("listen plan: loopback addresses for ClusterIPs, high ports for privileged ones, node ports everywhere", () => {
  const slices = loopbackSlices(service, [
    pod("a", "127.64.0.5", "True"),
    pod("b", "127.64.0.6", "False"),
    pod("c", "10.244.0.7", "True"),
    pod("d", "127.64.0.8", "True", {}),
  ]);
  const plan = planService(service, slices, { nodeName: "n1" })!;
  const address = serviceLoopbackAddress("10.0.3.7", instanceId)!;
  assert.match(address, /^127\.(1[2-9]\d|2[0-4]\d|25[0-4])\.3\.7$/);
  const lines = (firstBindablePort: number) =>
    listenPlan(plan, { instanceId, firstBindablePort }).map(
      (listen) => `${listen.address}:${listen.port} > ${listen.backends.map((backend) => `${backend.address}:${backend.port}`).join()}`,
    );
  assert.deepEqual(lines(1024), [`${address}:8080 > 127.64.0.5:8080`, "0.0.0.0:30080 > 127.64.0.5:8080", `${address}:9000 > 127.64.0.5:9000`]);
  assert.equal(lines(0)[0], `${address}:80 > 127.64.0.5:8080`);
  assert.equal(serviceLoopbackPort(443, 1024), 8443);
  const [http, high] = service.spec!.ports!;
  const addressing = { instanceId, firstBindablePort: 1024 };
  assert.deepEqual(forwardedPlace(service, http!, addressing), { address, port: 8080 });
  assert.deepEqual(forwardedPlace(service, high!, addressing), { address, port: 9000 });
  const taken: Service = { ...service, spec: { ...service.spec, ports: [http!, { name: "other", port: 8080 }] } };
  assert.deepEqual(forwardedPlace(taken, http!, addressing), { address: "10.0.3.7", port: 80 }, "left out: 8080 is the Service's own");
});

test("chooser: affinity holds until its time is over or the backend has gone", () => {
  const clock = new VirtualClock();
  const chooser = new BackendChooser({ clock, random: seededRandom(1) });
  const backend = (address: string) => ({ address, port: 1, isLocal: true });
  chooser.set(["a", "b", "c"].map(backend), 10);
  const [first] = chooser.orderFor("client");
  chooser.remember("client", first!);
  for (let round = 0; round < 20; round++) assert.equal(chooser.orderFor("client")[0], first);
  chooser.set(["x", "y"].map(backend), 10);
  assert.ok(["x", "y"].includes(chooser.orderFor("client")[0]!.address));
  assert.equal(chooser.orderFor("client").length, 2);
});

test("TCP: the first backend that accepts answers; without any the client is reset", async () => {
  const server = await listening(createServer((socket) => socket.end("hello")));
  const dead = await listening(createServer());
  const deadPort = portOf(dead);
  dead.close();
  const chooser = new BackendChooser({ clock: systemClock(), random: seededRandom(1) });
  chooser.set(
    [
      { address: "127.0.0.1", port: deadPort, isLocal: true },
      { address: "127.0.0.1", port: portOf(server), isLocal: true },
    ],
    undefined,
  );
  const place = { address: "127.80.0.1", port: 18_231 };
  const forwarder = await listenTcp(place, chooser);
  for (let round = 0; round < 4; round++) assert.equal(await text(connect(place.port, place.address)), "hello");
  chooser.set([], undefined);
  await assert.rejects(text(connect(place.port, place.address)), { code: "ECONNRESET" });
  await forwarder.close();
  await new Promise((resolve) => server.close(resolve));
});

test("UDP: answers come back to the client that asked", async () => {
  const server = createSocket("udp4");
  server.on("message", (data, client) => server.send(`re: ${data.toString()}`, client.port, client.address));
  await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
  const chooser = new BackendChooser({ clock: systemClock(), random: seededRandom(1) });
  chooser.set([{ address: "127.0.0.1", port: server.address().port, isLocal: true }], undefined);
  const place = { address: "127.80.0.1", port: 18_232 };
  const forwarder = await listenUdp(place, chooser, systemClock());
  const client = createSocket("udp4");
  const answer = new Promise((resolve) => client.once("message", (data) => resolve(data.toString())));
  client.send("one", place.port, place.address);
  assert.equal(await answer, "re: one");
  client.close();
  await forwarder.close();
  server.close();
});

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;
