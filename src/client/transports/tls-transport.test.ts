import { after, before, test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { createSecureServer } from "node:http2";
import { systemClock } from "../../base/clock.ts";
import { readBody } from "../requests/response.ts";
import { TlsTransport, TransportError } from "./tls-transport.ts";
import type { AddressInfo } from "node:net";
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { TlsTransportOptions } from "./tls-transport.ts";

/** Made for these tests, for 127.0.0.1 and a hundred years: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 …`. */
const certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBiTCCATCgAwIBAgIUbUsKtKRDGMbWal/jfz+h8wrDxgEwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGc2VydmVyMCAXDTI2MTEzMDE4MjIzMVoYDzIxMjYxMTA2MTgy
MjMxWjARMQ8wDQYDVQQDDAZzZXJ2ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATSaqRC1YPsbkeo3TjPg4P9VfzCSp9EKeKYX0l8TG5Onp6a5zKCWWYCcmf7vwAV
YY9ZFzL75Mm4JyTtAOCBhQ4Wo2QwYjAdBgNVHQ4EFgQUt3Q3dAd57kloumiZW9ne
Bl8iNQ4wHwYDVR0jBBgwFoAUt3Q3dAd57kloumiZW9neBl8iNQ4wDwYDVR0TAQH/
BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0cAMEQCIEZklHV+
P6V61g9XwLcdsqryzgSJnBvZTQ6zyJ9t8zilAiBZUPgkFGE7OiJP9CP1K+HYwoM/
dRpstogEwmO31Qcrbg==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgt60o9Y6dZc3CKsdj
i1Q5ysdDU5T/UMF3WNwPlIgHq8WhRANCAATSaqRC1YPsbkeo3TjPg4P9VfzCSp9E
KeKYX0l8TG5Onp6a5zKCWWYCcmf7vwAVYY9ZFzL75Mm4JyTtAOCBhQ4W
-----END PRIVATE KEY-----
`,
};
const strangerCert = `-----BEGIN CERTIFICATE-----
MIIBjzCCATSgAwIBAgIUH2iYSfM2V6o42PlzUAeulIDCLqcwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIc3RyYW5nZXIwIBcNMjYxMTMwMTgyMjMxWhgPMjEyNjExMDYx
ODIyMzFaMBMxETAPBgNVBAMMCHN0cmFuZ2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEFHMRVXmonVHEoWr2ao4ki1oBsURlP5KILfqq/6zJqVNabmcRb1eGrDPY
IL83u125O8R1/h1Hp+ifQxWS3h1j5aNkMGIwHQYDVR0OBBYEFPdYoZdW1fg9AtnM
aDo4DlFJxZB9MB8GA1UdIwQYMBaAFPdYoZdW1fg9AtnMaDo4DlFJxZB9MA8GA1Ud
EwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjOPQQDAgNJADBGAiEA
xLo7teVlH7GkxplMJeRbUTnrPIpO/jIuRyd9YT7/JuYCIQCyXx//aV4sEsYaZqj6
fN+55DtfGLdZinwZ1ZyIkvaA1A==
-----END CERTIFICATE-----
`;

let server: Http2SecureServer;
let answer: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void;
const sessions = new Set<ServerHttp2Session>();

before(async () => {
  server = createSecureServer({ ...certificate, requestCert: true, rejectUnauthorized: false });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => answer(stream as ServerHttp2Stream, headers));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
after(() => new Promise<void>((resolve) => server.close(() => resolve())));

const connect = (options: Partial<TlsTransportOptions> = {}) =>
  new TlsTransport({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, clock: systemClock(), ca: certificate.cert, ...options });
const get = (path: string, extra: { body?: string; signal?: AbortSignal } = {}) => ({
  method: extra.body === undefined ? "GET" : "POST",
  path,
  query: "a=b",
  headers: { accept: "application/json" },
  body: Buffer.from(extra.body ?? ""),
  signal: extra.signal ?? new AbortController().signal,
});

test("tls: head, body, token and client certificate travel", async () => {
  await using transport = connect({ bearerToken: () => "secret", certificate: certificate.cert, key: certificate.key });
  answer = (stream, headers) => {
    let body = "";
    stream.on("data", (chunk: Buffer) => (body += chunk.toString()));
    stream.on("end", () => {
      const socket = stream.session!.socket as import("node:tls").TLSSocket;
      stream.respond({ ":status": 201, "content-type": "application/json", warning: "w" });
      stream.end(
        JSON.stringify([headers[":method"], headers[":path"], headers["authorization"], headers["accept"], body, socket.getPeerCertificate().subject.CN]),
      );
    });
  };
  const response = await transport.send(get("/api", { body: "{}" }));
  equal(response.status, 201);
  equal(response.headers["warning"], "w");
  deepEqual(JSON.parse(Buffer.from(await readBody(response.body)).toString()), ["POST", "/api?a=b", "Bearer secret", "application/json", "{}", "server"]);
});

test("tls: an aborted stream ends with the signal's reason, and the server hears of it", async () => {
  await using transport = connect();
  const closed = new Promise<void>((resolve) => {
    answer = (stream) => {
      stream.on("close", () => resolve());
      stream.respond({ ":status": 200 });
      stream.write("one");
    };
  });
  const stopper = new AbortController();
  const response = await transport.send(get("/watch", { signal: stopper.signal }));
  const seen: string[] = [];
  const reading = (async () => {
    if (response.body.kind !== "stream") return;
    for await (const chunk of response.body.chunks) {
      seen.push(Buffer.from(chunk).toString());
      stopper.abort(new Error("enough"));
    }
  })();
  await rejects(reading, /enough/);
  await closed;
  deepEqual(seen, ["one"]);
});

test("tls: a lost connection fails what is open, and the next request opens another", async () => {
  await using transport = connect();
  answer = (stream) => {
    stream.respond({ ":status": 200 });
    stream.write("one");
  };
  const response = await transport.send(get("/watch"));
  const reading = readBody(response.body);
  for (const session of sessions) session.destroy();
  await rejects(reading, TransportError);
  answer = (stream) => {
    stream.respond({ ":status": 200 });
    stream.end("two");
  };
  equal(Buffer.from(await readBody((await transport.send(get("/again"))).body)).toString(), "two");
});

test("tls: a server that cannot be trusted or reached is a TransportError", async () => {
  await using stranger = connect({ ca: strangerCert });
  await rejects(stranger.send(get("/")), TransportError);
  await using nobody = connect({ url: "https://127.0.0.1:1" });
  await rejects(nobody.send(get("/")), (error) => error instanceof TransportError && /ECONNREFUSED/.test(error.message));
});

test("tls: a closed transport refuses", async () => {
  const transport = connect();
  await transport.close();
  await rejects(transport.send(get("/")), /was closed/);
});

test("tls transport: an answer that came whole while its reader was elsewhere is read whole", async () => {
  answer = (stream, headers) => {
    stream.respond({ ":status": 200 });
    for (let index = 0; index < 20; index++) stream.write(Buffer.alloc(headers[":path"] === "/long?a=b" ? 16_384 : 1, index));
    stream.end();
  };
  const transport = connect();
  const long = await transport.send(get("/long"));
  // On the same connection, what follows has everything before it.
  await readBody((await transport.send(get("/next"))).body);
  equal((await readBody(long.body)).length, 20 * 16_384);
  await transport.close();
});
