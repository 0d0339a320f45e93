/**
 * What Node does with nothing of ours in between: TLS and HTTP/2, `JSON.parse` of a body, a version put into it, an append with one fdatasync
 * per group, an answer of the same bytes. Arguments: the folder with the API server's key pair, a file for the log, the port.
 */
import { readFileSync, writev, fdatasync, openSync } from "node:fs";
import http2 from "node:http2";
import path from "node:path";

const [, , pki, log, port] = process.argv;
const file = openSync(log, "a");
const objects = new Map();
let version = 0;
let waiting = [];
let isWriting = false;

function write() {
  if (isWriting || waiting.length === 0) return;
  isWriting = true;
  const group = waiting;
  waiting = [];
  writev(
    file,
    group.map(({ bytes }) => bytes),
    () =>
      fdatasync(file, () => {
        isWriting = false;
        for (const { done } of group) done();
        write();
      }),
  );
}

function answer(stream, status, bytes) {
  stream.respond({ ":status": status, "content-type": "application/json", "content-length": bytes.length });
  stream.end(bytes);
}

const server = http2.createSecureServer({
  cert: readFileSync(path.join(pki, "apiserver.crt")),
  key: readFileSync(path.join(pki, "apiserver.key")),
  settings: { initialWindowSize: 4 << 20 },
});
server.on("stream", (stream, headers) => {
  const target = headers[":path"];
  if (headers[":method"] === "GET") return answer(stream, 200, objects.get(target));
  const chunks = [];
  stream.on("data", (chunk) => chunks.push(chunk));
  stream.on("end", () => {
    const object = JSON.parse(Buffer.concat(chunks));
    object.metadata.resourceVersion = String(++version);
    const bytes = Buffer.from(JSON.stringify(object));
    waiting.push({
      bytes,
      done() {
        objects.set(`${target}/${object.metadata.name}`, bytes);
        answer(stream, 201, bytes);
      },
    });
    setImmediate(write);
  });
});
server.listen(Number(port), "127.0.0.1", () => console.log("listening"));
process.on("SIGTERM", () => process.exit());
