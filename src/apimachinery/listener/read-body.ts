import type { Readable } from "node:stream";

/** The body of a request, at most `maxBytes` + 1 bytes of it: the surplus byte shows that there was more. */
export async function readBody(stream: Readable, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (length > maxBytes) continue;
    chunks.push(chunk);
    length += chunk.length;
  }
  const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return length > maxBytes ? body.subarray(0, maxBytes + 1) : body;
}
