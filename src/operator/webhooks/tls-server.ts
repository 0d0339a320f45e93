/** Serves reviews over HTTPS. Its certificate can be changed while it runs. */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ReviewAnswer } from "./review.ts";

export interface ReviewServer {
  readonly port: number;
  renew(certificate: { readonly certificate: string; readonly key: string }): void;
  /** Lets answers in progress end. */
  close(): Promise<void>;
}

/** Of a review: objects of up to 3 MiB, the old and the new one. */
const maxBodyBytes = 8 * 1024 * 1024;

export async function listenForReviews(
  place: { readonly port: number; readonly address?: string; readonly certificate: string; readonly key: string },
  answer: (path: string, body: string) => ReviewAnswer,
): Promise<ReviewServer> {
  const server = createServer({ cert: place.certificate, key: place.key, minVersion: "TLSv1.2" }, (request, response) => {
    void respond(request, response, answer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(place.port, place.address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    renew: ({ certificate, key }) => server.setSecureContext({ cert: certificate, key }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, answer: (path: string, body: string) => ReviewAnswer): Promise<void> {
  const end = (status: number, type: string, body: string) => response.writeHead(status, { "content-type": type, connection: "close" }).end(body);
  if (request.method !== "POST") return void end(405, "text/plain", "only POST is allowed\n");
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBodyBytes) return void end(413, "text/plain", "the review is too large\n");
      chunks.push(chunk);
    }
  } catch {
    // The client left: nobody is there to be answered.
    return;
  }
  const { status, body } = answer(new URL(request.url ?? "/", "https://localhost").pathname, Buffer.concat(chunks).toString());
  end(status, status === 200 ? "application/json" : "text/plain", body);
}
