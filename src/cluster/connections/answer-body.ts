/** Bodies of a webhook's answers, which it may compress. */
import { createGunzip } from "node:zlib";
import type { Readable } from "node:stream";

/** What a client asks for that takes such answers. */
export const acceptedEncoding = { "accept-encoding": "gzip" };

/** The whole body, unpacked. Rejects when it is longer than `maxBytes` then, or cannot be unpacked. */
export async function readAnswerBody(stream: Readable, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const plain = encoding === "gzip" ? stream.pipe(createGunzip()) : stream;
  if (plain !== stream) stream.once("error", (error) => plain.destroy(error));
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } finally {
    stream.destroy();
  }
  return Buffer.concat(chunks);
}
