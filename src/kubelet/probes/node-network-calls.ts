/** Probes' calls over this machine's network. Certificates of pods are not checked (documentation page "Configure Probes", "HTTP probes"). */
import http from "node:http";
import https from "node:https";
import { connect } from "node:net";
import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import { isIPv6 } from "node:net";
import { CallError } from "./network-calls.ts";
import type { HttpCall, NetworkCalls } from "./network-calls.ts";

export const nodeNetworkCalls: NetworkCalls = { http: callHttp, tcp: callTcp, grpc: callGrpc };

const maxBodyBytes = 10 * 1024;
const maxRedirects = 10;

async function callHttp(call: HttpCall, signal: AbortSignal): Promise<{ status: number; body: string; isRedirected: boolean }> {
  let current = call;
  for (let redirects = 0; ; redirects++) {
    const answer = await requestOnce(current, signal);
    if (answer.location === undefined || answer.status < 300 || answer.status >= 400) return { status: answer.status, body: answer.body, isRedirected: false };
    const next = new URL(answer.location, urlOf(current));
    // Another host is not asked: that the pod answers at all counts as a success with a warning.
    if (next.hostname !== hostText(call.host)) return { status: answer.status, body: answer.body, isRedirected: true };
    if (redirects >= maxRedirects) throw new CallError(`Get "${urlOf(call)}": stopped after ${maxRedirects} redirects`);
    const scheme = next.protocol === "https:" ? "HTTPS" : "HTTP";
    current = { ...current, scheme, port: Number(next.port) || (scheme === "HTTPS" ? 443 : 80), path: next.pathname + next.search };
  }
}

function requestOnce(call: HttpCall, signal: AbortSignal): Promise<{ status: number; body: string; location?: string }> {
  const { scheme, host, port, path } = call;
  const url = urlOf(call);
  return new Promise((resolve, reject) => {
    const send = scheme === "HTTPS" ? https.request : http.request;
    const request = send({
      host,
      port,
      path,
      method: "GET",
      headers: headersOf(call),
      agent: false,
      signal,
      ...(scheme === "HTTPS" && { rejectUnauthorized: false }),
    });
    request.on("error", (error) =>
      reject(
        new CallError(
          `Get "${url}": ${signal.aborted ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)" : networkError(error, host, port)}`,
        ),
      ),
    );
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxBodyBytes) chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString("utf8"),
          ...(response.headers.location !== undefined && { location: response.headers.location }),
        }),
      );
    });
    request.end();
  });
}

function headersOf({ headers, host, port }: HttpCall): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = { host: `${hostText(host)}:${port}`, "user-agent": "kube-probe/1.37", accept: "*/*", connection: "close" };
  for (const { name, value } of headers) {
    const key = name.toLowerCase();
    if (value === "" && (key === "accept" || key === "user-agent")) delete all[key];
    else if (key in all || key === "host") all[key] = value;
    else all[key] = [...((all[key] as string[] | undefined) ?? []), value];
  }
  return all;
}

function callTcp({ host, port }: { host: string; port: number }, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const onAbort = () => {
      socket.destroy();
      reject(new CallError(`dial tcp ${hostText(host)}:${port}: i/o timeout`));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const done = () => signal.removeEventListener("abort", onAbort);
    socket.once("connect", () => {
      done();
      socket.destroy();
      resolve();
    });
    socket.once("error", (error) => {
      done();
      reject(new CallError(networkError(error, host, port)));
    });
  });
}

const HealthClient = makeGenericClientConstructor(
  {
    check: {
      path: "/grpc.health.v1.Health/Check",
      requestStream: false,
      responseStream: false,
      requestSerialize: (service: string) => {
        const name = Buffer.from(service);
        return name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
      },
      requestDeserialize: () => "",
      responseSerialize: () => Buffer.alloc(0),
      responseDeserialize: (bytes: Buffer) => (bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0),
    },
  },
  "Health",
);
const servingStatuses = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"] as const;

type HealthCheck = { check(service: string, callback: (error: Error | null, status?: number) => void): { cancel(): void }; close(): void };

function callGrpc({ host, port, service }: { host: string; port: number; service: string }, signal: AbortSignal): Promise<string> {
  const client = new HealthClient(`${hostText(host)}:${port}`, credentials.createInsecure()) as unknown as HealthCheck;
  return new Promise<string>((resolve, reject) => {
    const call = client.check(service, (error, status) => {
      if (error === null) resolve(servingStatuses[status ?? 0] ?? "UNKNOWN");
      else
        reject(
          new CallError(
            signal.aborted
              ? `timeout: failed to connect service "${hostText(host)}:${port}" within 1s: context deadline exceeded`
              : `rpc error: ${error.message}`,
          ),
        );
    });
    signal.addEventListener("abort", () => call.cancel(), { once: true });
  }).finally(() => client.close());
}

function urlOf({ scheme, host, port, path }: HttpCall): string {
  return `${scheme.toLowerCase()}://${hostText(host)}:${port}${path.startsWith("/") ? path : `/${path}`}`;
}

const hostText = (host: string) => (isIPv6(host) ? `[${host}]` : host);

function networkError(error: NodeJS.ErrnoException, host: string, port: number): string {
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: "connect: connection refused",
    ETIMEDOUT: "connect: connection timed out",
    EHOSTUNREACH: "connect: no route to host",
    ENETUNREACH: "connect: network is unreachable",
  };
  const code = error.code ?? "";
  if (words[code] !== undefined) return `dial tcp ${hostText(host)}:${port}: ${words[code]}`;
  if (code === "ECONNRESET") return error.message === "socket hang up" ? "EOF" : "read: connection reset by peer";
  return error.message;
}
