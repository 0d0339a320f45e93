import assert from "node:assert/strict";
import { appendFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { constants, createDeflate } from "node:zlib";
import { readLogOptions } from "./logs/log-options.ts";
import { readLog } from "./logs/log-reader.ts";
import { errorText, readCommandStreams } from "./streams/remote-command.ts";
import { SpdyServer } from "./streams/spdy-server.ts";
import { spdyDictionary } from "./streams/spdy-dictionary.ts";

const results: [protocol: string, result: Parameters<typeof errorText>[0], text: string][] = [
  ["v5.channel.k8s.io", { outcome: "success" }, '{"metadata":{},"status":"Success"}'],
  ["channel.k8s.io", { outcome: "success" }, ""],
  [
    "v4.channel.k8s.io",
    { outcome: "exited", exitCode: 3, message: "command terminated with non-zero exit code: error executing command [sh >&2], exit code 3" },
    '{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: error executing command [sh \\u003e\\u00262], exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}',
  ],
  [
    "v5.channel.k8s.io",
    { outcome: "exited", exitCode: 3, message: "the runtime's" },
    '{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: command terminated with exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}',
  ],
  [
    "v5.channel.k8s.io",
    { outcome: "failed", message: "no" },
    '{"metadata":{},"status":"Failure","message":"Internal error occurred: Internal error occurred: no","reason":"InternalError","details":{"causes":[{"message":"Internal error occurred: no"}]},"code":500}',
  ],
];
for (const [protocol, result, text] of results) test(`error channel: ${protocol} ${result.outcome}`, () => assert.equal(errorText(result, protocol), text));

const queries: [query: string, streams: string | undefined][] = [
  ["output=1&error=1", "stdout stderr"],
  ["input=1&output=1&error=1&tty=1", "stdin stdout tty"],
  ["output=true", undefined],
  ["", undefined],
];
for (const [query, expected] of queries) {
  test(`streams of ?${query}`, () => {
    const streams = readCommandStreams(new URLSearchParams(query));
    const names =
      streams === undefined
        ? undefined
        : Object.entries(streams)
            .flatMap(([name, isOn]) => (isOn ? [name] : []))
            .join(" ");
    assert.equal(names, expected);
  });
}

const log = [
  "2026-01-01T00:00:01.000000000Z stdout F one",
  "2026-01-01T00:00:02.000000000Z stdout P tw",
  "2026-01-01T00:00:02.000000001Z stdout F o",
  "2026-01-01T00:00:03.000000000Z stderr F three",
];
const reads: [query: string, text: string][] = [
  ["", "one\ntwo\nthree\n"],
  ["tailLines=2", "two\nthree\n"],
  ["tailLines=0", ""],
  ["limitBytes=5", "one\nt"],
  ["stream=Stderr", "three\n"],
  ["sinceTime=2026-01-01T00:00:03Z&timestamps=true", "2026-01-01T00:00:03.000000000Z three\n"],
];
for (const [query, text] of reads) {
  test(`log ?${query}`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "0.log");
    await writeFile(path, `${log.join("\n")}\n`);
    const source = { path, isOpen: () => false, onChange: () => () => undefined };
    const chunks: Uint8Array[] = [];
    for await (const chunk of readLog(source, readLogOptions(new URLSearchParams(query), 0)!, new AbortController().signal)) chunks.push(chunk);
    assert.equal(Buffer.concat(chunks).toString("utf8"), text);
  });
}

test("a log that is followed goes on through a rotation, and ends with its container", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "0.log");
  await writeFile(path, `${log[0]}\n`);
  let isOpen = true;
  let onChange = () => {};
  const source = { path, isOpen: () => isOpen, onChange: (listener: () => void) => ((onChange = listener), () => undefined) };
  const lines = readLog(source, readLogOptions(new URLSearchParams("follow=true"), 0)!, new AbortController().signal);
  const next = async () => Buffer.from((await lines.next()).value ?? "").toString("utf8");
  assert.equal(await next(), "one\n");
  await appendFile(path, `${log[3]}\n`);
  assert.equal(await next(), "three\n");
  await rename(path, `${path}.1`);
  await writeFile(path, `${log[0]}\n`);
  assert.equal(await next(), "one\n");
  const end = next();
  isOpen = false;
  onChange();
  assert.equal(await end, "");
});

test("SPDY: streams open with their headers, data goes both ways, a ping is echoed", async () => {
  const sent: Buffer[] = [];
  const server = new SpdyServer(async (bytes) => void sent.push(Buffer.from(bytes)));
  const headers = headerBlocks();
  server.receive(control(1, Buffer.concat([uint32(1), Buffer.alloc(6), await headers({ streamtype: "error" })])));
  // A frame may come in pieces.
  const second = control(1, Buffer.concat([uint32(3), Buffer.alloc(6), await headers({ streamtype: "data", port: "80" })]));
  server.receive(second.subarray(0, 5));
  server.receive(second.subarray(5));
  server.receive(control(6, uint32(7)));
  server.receive(Buffer.concat([uint32(3), Buffer.from([1, 0, 0, 2]), Buffer.from("hi")]));
  const streams = server.streams();
  const first = (await streams.next()).value!;
  const data = (await streams.next()).value!;
  assert.deepEqual([first.headers, data.headers], [{ streamtype: "error" }, { streamtype: "data", port: "80" }]);
  const input: string[] = [];
  for await (const chunk of data.input) input.push(Buffer.from(chunk).toString("utf8"));
  assert.deepEqual(input, ["hi"]);
  await data.write(Buffer.from("ok"));
  await data.end();
  assert.deepEqual(
    sent.map((frame) => (frame[0]! >= 128 ? `control ${frame.readUInt16BE(2)}` : `data ${frame.readUInt32BE(0)} ${frame[4]} ${frame.toString("utf8", 8)}`)),
    ["control 2", "control 2", "control 6", "data 3 0 ok", "data 3 1 "],
  );
  server.end();
  assert.equal((await streams.next()).done, true);
});

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "kubelet-server-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** As clients compress them: one stream with the dictionary, flushed after each block. */
function headerBlocks(): (headers: Record<string, string>) => Promise<Buffer> {
  const deflate = createDeflate({ dictionary: spdyDictionary });
  const parts: Buffer[] = [];
  deflate.on("data", (part: Buffer) => parts.push(part));
  return (headers) =>
    new Promise((resolve) => {
      const block = [uint32(Object.keys(headers).length)];
      for (const text of Object.entries(headers).flat()) block.push(uint32(text.length), Buffer.from(text));
      deflate.write(Buffer.concat(block));
      deflate.flush(constants.Z_SYNC_FLUSH, () => resolve(Buffer.concat(parts.splice(0))));
    });
}

function control(type: number, payload: Buffer): Buffer {
  const head = Buffer.from([0x80, 3, 0, type, 0, 0, 0, 0]);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
