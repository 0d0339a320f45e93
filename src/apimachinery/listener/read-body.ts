import type { Readable } from "node:stream";

/** The body of a request, at most `maxBytes` + 1 bytes of it: the surplus byte shows that there was more. Rejects when the client leaves. */
export function readBody(stream: Readable, maxBytes: number): Promise<Uint8Array> {
  // (An async iterator over the stream costs as much as all else that is done with a small body.)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let isComplete = false;
    stream.on("data", (chunk: Buffer) => {
      if (length > maxBytes) return;
      chunks.push(chunk);
      length += chunk.length;
    });
    stream.on("end", () => {
      isComplete = true;
      const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      resolve(length > maxBytes ? body.subarray(0, maxBytes + 1) : body);
    });
    stream.on("error", reject);
    stream.on("close", () => {
      if (!isComplete) reject(new Error("the connection ended within the request's body"));
    });
  });
}
