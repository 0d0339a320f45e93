import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { silentLog } from "../../base/log.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { readEndpoint, serveMetrics } from "./metrics-endpoint.ts";

test("where metrics are served, as flags say it", () => {
  assert.deepEqual(readEndpoint("f", "0.0.0.0:10249"), { address: "0.0.0.0", port: 10249 });
  assert.deepEqual(readEndpoint("f", "[::1]:10249"), { address: "::1", port: 10249 });
  assert.deepEqual(readEndpoint("f", "10249"), { address: "127.0.0.1", port: 10249 });
  assert.equal(readEndpoint("f", "127.0.0.1:0"), undefined);
  for (const text of ["", "localhost", "a:b", "127.0.0.1:70000"]) assert.throws(() => readEndpoint("f", text), /--f wants HOST:PORT; not/);
});

test("metrics over HTTP; a port that is taken is left", async () => {
  const registry = new MetricRegistry();
  registry.counter("some_total", "Some.").add(2);
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const place = { address: "127.0.0.1", port: (other.address() as AddressInfo).port };
  await (await serveMetrics(registry, place, silentLog))[Symbol.asyncDispose]();
  assert.ok(other.listening);
  await new Promise((resolve) => void other.close(resolve));
  await using _served = await serveMetrics(registry, place, silentLog);
  const url = `http://127.0.0.1:${place.port}`;
  const answer = await fetch(`${url}/metrics`);
  assert.match(await answer.text(), /^some_total 2$/m);
  assert.equal((await fetch(url)).status, 404);
});
