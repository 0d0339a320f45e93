import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { bytesResponse } from "../apimachinery/request.ts";
import { isNotFound, notFoundError } from "../apimachinery/status.ts";
import { loopTurn, VirtualClock } from "../base/virtual-clock.ts";
import { ScriptedStream, scriptedHandler } from "../testing/scripted-handler.ts";
import { Client } from "./client.ts";
import { loopbackTransport } from "./transports/loopback-transport.ts";
import { resources } from "./resources.ts";
import type { ScriptedAnswer } from "../testing/scripted-handler.ts";

function start(...script: ScriptedAnswer[]) {
  const clock = new VirtualClock();
  const server = scriptedHandler(script);
  return { clock, ...server, client: new Client({ transport: loopbackTransport(server.handler, { username: "test", groups: [] }), clock, userAgent: "test" }) };
}
const tooMany = bytesResponse(429, "text/plain", "Too many requests, please try again later.\n", { "retry-after": "1" });

test("client: refusals are StatusErrors", async () => {
  const { client } = start(notFoundError({ group: "", resource: "pods" }, "web"));
  await rejects(client.get(resources.pods, "a", "web"), (error) => isNotFound(error) && error.message === 'pods "web" not found');
});

test("client: waits as long as the server asks, then tries again", async () => {
  const { clock, client, requests } = start(tooMany, tooMany, { kind: "Pod", metadata: { name: "web" } });
  const pod = client.get(resources.pods, "a", "web");
  await clock.advance(1_000);
  equal(requests.length, 2);
  await clock.advance(1_000);
  equal((await pod).metadata.name, "web");
});

test("client: gives up after ten retries", async () => {
  const { clock, client, requests } = start(...Array.from({ length: 20 }, () => tooMany));
  const refused = rejects(client.get(resources.pods, "a", "web"), { reason: "TooManyRequests" });
  await clock.advance(60_000);
  await refused;
  equal(requests.length, 11);
});

test("client: an aborted watch throws the signal's reason and closes the stream", async () => {
  const stream = new ScriptedStream({ type: "ADDED", object: { metadata: { name: "web" } } });
  const { client } = start(stream);
  const stopper = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of client.watch(resources.pods, "a", {}, stopper.signal)) seen.push(event.type);
  })();
  const stopped = rejects(watching, /enough/);
  await loopTurn();
  stopper.abort(new Error("enough"));
  await stopped;
  deepEqual(seen, ["ADDED"]);
});
