import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { bytesResponse } from "../apimachinery/request.ts";
import type { ApiResponse } from "../apimachinery/request.ts";
import { FaultTransport } from "./fault-transport.ts";
import type { FaultTransportOptions } from "./fault-transport.ts";

const request = { method: "POST", path: "/", query: "", headers: {}, body: new Uint8Array(), signal: new AbortController().signal };

function open(rates: NonNullable<FaultTransportOptions["rates"]>, answer: () => ApiResponse = () => bytesResponse(200, "text/plain", "ok")) {
  let arrived = 0;
  const transport = new FaultTransport(
    async () => {
      arrived++;
      return answer();
    },
    { random: seededRandom(7), clock: new VirtualClock(), rates },
  );
  return { transport, arrived: () => arrived };
}

test("lost requests never arrive, lost answers did, repeated ones arrive twice", async () => {
  const cases: [rates: NonNullable<FaultTransportOptions["rates"]>, fails: boolean, arrived: number][] = [
    [{}, false, 1],
    [{ dropRequest: 1 }, true, 0],
    [{ dropAnswer: 1 }, true, 1],
    [{ repeat: 1 }, false, 2],
  ];
  for (const [rates, fails, arrived] of cases) {
    const opened = open(rates);
    if (fails) await assert.rejects(opened.transport.send(request), { reason: "ConnectionFailed" });
    else assert.equal((await opened.transport.send(request)).status, 200);
    assert.equal(opened.arrived(), arrived, JSON.stringify(rates));
  }
});

test("a stream breaks after its chunk; a cut line ends it and refuses requests until it is healed", async () => {
  const stream = (): ApiResponse => ({
    status: 200,
    headers: {},
    body: {
      kind: "stream",
      chunks: (async function* () {
        for (let index = 0; index < 5; index++) yield Uint8Array.of(index);
      })(),
    },
  });
  const read = async ({ body }: ApiResponse, onChunk: () => void) => {
    assert.ok(body.kind === "stream");
    for await (const _ of body.chunks) onChunk();
  };
  let chunks = 0;
  await assert.rejects(
    read(await open({ breakStream: 1 }, stream).transport.send({ ...request, method: "GET" }), () => chunks++),
    { reason: "ConnectionFailed" },
  );
  assert.equal(chunks, 1);
  const { transport } = open({}, stream);
  await assert.rejects(
    read(await transport.send(request), () => transport.partition()),
    { reason: "ConnectionFailed" },
  );
  await assert.rejects(transport.send(request), { reason: "ConnectionFailed" });
  transport.heal();
  assert.equal((await transport.send(request)).status, 200);
});

test("refusals are the server's, and nothing arrives; after calm there are none", async () => {
  const put = { ...request, method: "PUT" };
  const watch = { ...request, method: "GET", query: "watch=true&resourceVersion=7" };
  const all = { refuse: 1, conflict: 1, expire: 1 };
  const cases: [rates: NonNullable<FaultTransportOptions["rates"]>, sent: typeof request, codes: readonly number[]][] = [
    [{ refuse: 1 }, request, [429, 500]],
    [{ conflict: 1 }, put, [409]],
    [{ conflict: 1 }, request, [200]],
    [{ expire: 1 }, watch, [410]],
    [{ expire: 1 }, { ...watch, query: "watch=true" }, [200]],
  ];
  for (const [rates, sent, codes] of cases) {
    const opened = open(rates);
    const { status } = await opened.transport.send(sent);
    assert.ok(codes.includes(status), `${JSON.stringify(rates)}: ${status}`);
    assert.equal(opened.arrived(), status === 200 ? 1 : 0);
  }
  const calm = open(all);
  calm.transport.calm();
  assert.equal((await calm.transport.send(put)).status, 200);
});
