import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { LifecycleHandler } from "../../api/core-v1/types.ts";
import type { NetworkCalls } from "../probes/network-calls.ts";
import { createSimulatedRuntime } from "../runtime/simulated.ts";
import { runHook } from "./lifecycle-hooks.ts";

const clock = new VirtualClock();
const runtime = { ...createSimulatedRuntime({ clock, random: seededRandom(1) }), hasNetwork: true };
const target = { container: { name: "c", ports: [{ name: "web", containerPort: 8080 }] }, containerId: "id", podIP: "10.0.0.1" };

const rows: [title: string, handler: LifecycleHandler, expected: string][] = [
  ["a page", { httpGet: { path: "/started?by=hook", port: "web" } }, "HTTP://10.0.0.1:8080/started?by=hook"],
  ["another host", { httpGet: { path: "/ok", host: "192.0.2.1", port: 80, scheme: "HTTPS" } }, "HTTPS://192.0.2.1:80/ok"],
  ["a page that is not there", { httpGet: { path: "/none", port: 8080 } }, "HTTP hook failed with statuscode: 404"],
  ["no such port", { httpGet: { path: "/", port: "nope" } }, 'couldn\'t find port: "nope" in container c'],
];
for (const [title, handler, expected] of rows) {
  test(`hook over HTTP: ${title}`, async () => {
    const called: string[] = [];
    const network: NetworkCalls = {
      http: async ({ scheme, host, port, path }) => {
        called.push(`${scheme}://${host}:${port}${path}`);
        return { status: path === "/none" ? 404 : 200, body: "", isRedirected: false };
      },
      tcp: () => Promise.reject(new Error("not asked")),
      grpc: () => Promise.reject(new Error("not asked")),
    };
    const outcome = await runHook(handler, target, { runtime, network, clock }, new AbortController().signal).then(
      () => called.join(),
      (error: Error) => error.message,
    );
    assert.equal(outcome, expected);
  });
}
