/** The upgrade of a request to SPDY/3.1, with its own negotiation of what the streams mean. */
import { bytesResponse } from "../../../apimachinery/request.ts";
import type { ApiRequest, ApiResponse } from "../../../apimachinery/request.ts";
import { SpdyServer } from "./spdy-server.ts";

export interface SpdyOffer {
  /** Those served, the preferred first. */
  readonly protocols: readonly string[];
  /** What a client gets that offers none. */
  readonly whenNone: { readonly status: number; readonly text: string };
  /** How often a refusal says its reason. */
  readonly refusalTimes: number;
}

export function isSpdyRequest({ headers }: ApiRequest): boolean {
  return (headers["upgrade"] ?? "") !== "" && (headers["connection"] ?? "").toLowerCase().includes("upgrade");
}

/** The client's first protocol that we know is taken. `serve` ends when it has nothing more to say; the connection is then closed. */
export function acceptSpdy(request: ApiRequest, offer: SpdyOffer, serve: (server: SpdyServer, protocol: string) => Promise<void>): ApiResponse {
  const offered = (request.headers["x-stream-protocol-version"] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (offered.length === 0) return refusal(offer.whenNone.status, offer.whenNone.text);
  const protocol = offered.find((name) => offer.protocols.includes(name));
  if (protocol === undefined) {
    const line = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${offer.protocols.join(" ")}]\n`;
    return refusal(403, line.repeat(offer.refusalTimes), { "x-accepted-stream-protocol-versions": offer.protocols });
  }
  return {
    status: 101,
    headers: { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocol },
    body: {
      kind: "upgrade",
      accept: async ({ stream, head }) => {
        const server = new SpdyServer((bytes) => new Promise((resolve) => (stream.writable ? void stream.write(bytes, () => resolve()) : resolve())));
        stream.on("data", (chunk: Buffer) => server.receive(chunk));
        stream.on("close", () => server.end());
        stream.on("error", () => undefined); // "close" follows
        if (head.length > 0) server.receive(head);
        await serve(server, protocol);
        stream.end();
      },
    },
  };
}

function refusal(status: number, text: string, headers: Record<string, readonly string[]> = {}): ApiResponse {
  return bytesResponse(status, "text/plain; charset=utf-8", text, { "x-content-type-options": "nosniff", ...headers });
}
