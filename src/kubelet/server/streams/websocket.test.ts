import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { duplexPair } from "node:stream";
import type { Duplex } from "node:stream";
import type { ApiRequest } from "../../../apimachinery/request.ts";
import { acceptWebSocket } from "./websocket.ts";
import type { WebSocketConnection } from "./websocket.ts";

const request = {
  method: "GET",
  path: "/exec",
  query: "",
  headers: {
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-protocol": "v5.channel.k8s.io",
  },
  body: new Uint8Array(),
  signal: new AbortController().signal,
} as Partial<ApiRequest> as ApiRequest;

/** The client's end of a connection that `serve` has the other end of. */
function connect(serve: (connection: WebSocketConnection) => Promise<void>): { client: Duplex; served: Promise<void> } {
  const [stream, client] = duplexPair();
  const { body } = acceptWebSocket(request, ["v5.channel.k8s.io"], serve);
  if (body.kind !== "upgrade") throw new Error("not upgraded");
  return { client, served: Promise.resolve(body.accept({ stream, head: new Uint8Array() })) };
}

/** A frame of a client without content, masked by zeros. */
const frame = (opcode: number) => Buffer.from([0x80 | opcode, 0x80, 0, 0, 0, 0]);
const [close, ping, pong] = [8, 9, 10];

const nextBytes = async (client: Duplex): Promise<number[]> => [...((await once(client, "data")) as [Buffer])[0]];

test("websocket: a client that asks for a sign of life gets it", async () => {
  const { client, served } = connect(async ({ messages }) => {
    for await (const _ of messages) continue;
  });
  client.write(frame(ping));
  deepEqual(await nextBytes(client), [0x80 | pong, 0]);
  client.end(frame(close));
  client.resume();
  await served;
});

test("websocket: a client has half a minute to answer a close", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let isOver = false;
  const { client, served } = connect(async (connection) => connection.close());
  void served.then(() => (isOver = true));
  deepEqual(await nextBytes(client), [0x80 | close, 2]);
  context.mock.timers.tick(29_000);
  client.write(frame(ping));
  await new Promise(setImmediate);
  equal(isOver, false);
  context.mock.timers.tick(1_000);
  await served;
});
