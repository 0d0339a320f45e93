import { test } from "node:test";
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import tls from "node:tls";
import type { Clock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { listenTls } from "../../apimachinery/listener/tls-listener.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import { tlsConnection } from "../connections/api-connection.ts";
import { Certificates } from "./certificates.ts";
import { keysInMemory } from "./key-store.ts";
import { followPair, renewedPair } from "./renewal.ts";

const dayMs = 86_400_000;
const serial = (pem: string) => new X509Certificate(pem).serialNumber;
/** (Handshakes look at the machine's clock: all this was in the past year.) */
const started = () => new VirtualClock(Date.now() - 300 * dayMs);

async function shownBy(port: number, ca: string): Promise<string> {
  const socket = tls.connect({ port, host: "127.0.0.1", ca });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerX509Certificate()!;
  socket.destroy();
  return serialNumber;
}

test("a listener shows the successor of its certificate without a restart", async () => {
  const clock = started();
  const certificates = new Certificates(keysInMemory(), clock);
  const source = () => certificates.serving("s", ["127.0.0.1"]);
  const [current, ca] = [await source(), await certificates.authority()];
  await using stack = new AsyncDisposableStack();
  const listener = stack.adopt(
    await listenTls({ address: "127.0.0.1", port: 0, ...current, handler: async () => bytesResponse(200, "text/plain", ""), log: silentLog, maxBodyBytes: 0 }),
    (opened) => opened.close(),
  );
  stack.use(followPair({ clock, log: silentLog, name: "s", current, source, onNew: listener.setCertificate }));
  equal(await shownBy(listener.port, ca), serial(current.certificate));
  const renewed = Promise.withResolvers<void>();
  stack.use(followPair({ clock, log: silentLog, name: "probe", current, source, onNew: () => renewed.resolve() }));
  await clock.advance(293 * dayMs);
  await renewed.promise;
  const next = await source();
  notEqual(next.certificate, current.certificate);
  equal(await shownBy(listener.port, ca), serial(next.certificate));
  await stack.disposeAsync();
  equal(clock.nextDueMs(), undefined);
});

test("a client shows the successor in a new connection; what is under way ends on the old one", async () => {
  // (Moved in one step: nobody answers the connection's pings on the way.)
  let nowMs = started().nowMs();
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
  const certificates = new Certificates(keysInMemory(), clock);
  const seen: string[] = [];
  const held = Promise.withResolvers<ApiResponse>();
  const handler = async ({ path, peer }: ApiRequest): Promise<ApiResponse> => {
    seen.push(new X509Certificate(peer.certificate!).serialNumber);
    return path === "/held" ? held.promise : bytesResponse(200, "text/plain", "");
  };
  await using stack = new AsyncDisposableStack();
  const listener = stack.adopt(
    await listenTls({ address: "127.0.0.1", port: 0, ...(await certificates.serving("s", ["127.0.0.1"])), handler, log: silentLog, maxBodyBytes: 0 }),
    (opened) => opened.close(),
  );
  const transport = stack
    .use(tlsConnection(`https://127.0.0.1:${listener.port}`, certificates, { clock, random: seededRandom(1), log: silentLog, setVerbosity() {} }))
    .transportFor({ username: "u", groups: [] });
  const get = (path: string) => transport({ method: "GET", path, query: "", headers: {}, body: new Uint8Array(), signal: new AbortController().signal });
  await get("/");
  const underWay = get("/held");
  await get("/");
  const [before] = seen;
  deepEqual(seen, [before, before, before]);
  nowMs += 293 * dayMs;
  await get("/");
  await get("/");
  const [, , , after, last] = seen;
  notEqual(after, before);
  equal(last, after);
  held.resolve(bytesResponse(200, "text/plain", ""));
  equal((await underWay).status, 200);
});

test("a source that fails does not take away what is in use, and is asked again", async () => {
  const clock = started();
  const certificates = new Certificates(keysInMemory(), clock);
  let isFailing = false;
  const get = renewedPair(() => (isFailing ? Promise.reject(new Error("no disk")) : certificates.client("c", "c", [])), clock);
  const first = await get();
  isFailing = true;
  await clock.advance(293 * dayMs);
  equal(await get(), first);
  isFailing = false;
  equal(await get(), first);
  await clock.advance(60_000);
  notEqual(await get(), first);
});
