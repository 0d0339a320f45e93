/** The webhook of the recorded exchanges: it answers a review by the user's name or the token in it, and keeps what it was sent. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";

export interface WebhookRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

export interface Webhook {
  /** `https://127.0.0.1:PORT`, with the certificate of the recordings' issuer. */
  readonly origin: string;
  /** PEM, to trust it by. */
  readonly certificate: string;
  /** What came since the last call. */
  take(): WebhookRequest[];
  close(): void;
}

/** By the word in the review: the `status` that is answered. */
export type Answers = Readonly<Record<string, object>>;

interface Review {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: { readonly token?: string; readonly user?: string };
}

const shownHeaders = ["accept", "authorization", "content-type", "accept-encoding"];

/** `folder` holds the recordings. */
export async function startWebhook(folder: string, answers: Answers): Promise<Webhook> {
  const { certificate, certificateKey } = JSON.parse(readFileSync(path.join(folder, "access", "config", "issuer.json"), "utf8"));
  let seen: WebhookRequest[] = [];
  const server = createServer({ cert: certificate, key: certificateKey }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review: Review = JSON.parse(Buffer.concat(chunks).toString());
    seen.push({ method: request.method!, path: request.url!, headers: headersOf(request), body: review });
    answer(response, review, answers);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificate,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function headersOf({ headers }: IncomingMessage): Record<string, unknown> {
  return Object.fromEntries(shownHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

/** What the recordings call a fault, or the answer of that name. */
function answer(response: ServerResponse, { kind, apiVersion, spec }: Review, answers: Answers): void {
  const word = spec.token ?? spec.user ?? "";
  const send = (status: number, body: object | string, headers: Record<string, string> = { "content-type": "application/json" }) =>
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  const granted = (username: string) => (kind === "TokenReview" ? { authenticated: true, user: { username } } : { allowed: true });
  const group = apiVersion.split("/")[0]!;
  const otherVersion = apiVersion.endsWith("/v1") ? "v1beta1" : "v1";
  switch (word) {
    case "http403":
      return void send(403, { kind: "Status", apiVersion: "v1", status: "Failure", message: "webhook says forbidden", reason: "Forbidden", code: 403 });
    case "http404":
      return void send(404, "not here", { "content-type": "text/plain" });
    case "http500":
      return void send(500, "boom", { "content-type": "text/plain" });
    case "http429":
      return void send(429, "later", { "content-type": "text/plain", "retry-after": "1" });
    case "html":
      return void send(200, "<html>no</html>", { "content-type": "text/html" });
    case "emptybody":
      return void send(200, "");
    case "wrongkind":
      return void send(200, { kind: "Pod", apiVersion: "v1" });
    case "otherversion":
      return void send(200, { kind, apiVersion: `${group}/${otherVersion}`, status: granted("ov") });
    case "created":
      return void send(201, { kind, apiVersion, status: granted("c") });
    case "nokind":
      return void send(200, { status: granted("nk") });
    case "unknownfield":
      return void send(200, { kind, apiVersion, nonsense: 1, status: { ...granted("uf"), nonsense: 1 } });
    case "reset":
      return void response.socket?.destroy();
    case "slow":
      return;
    default:
      return void send(200, { kind, apiVersion, status: answers[word] ?? (kind === "TokenReview" ? { authenticated: false } : { allowed: false }) });
  }
}
