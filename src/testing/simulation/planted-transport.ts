/**
 * Faults planted into whatever writes through a transport: each takes away one of the guards that a controller lives by, for good and not
 * only while the line is bad. The same for every controller, since all of them read and write here.
 */
import { sleep } from "../../base/clock.ts";
import { bytesResponse } from "../../apimachinery/request.ts";
import { isHeartbeat, isWrite } from "../counted-handler.ts";
import type { ApiResponse, Transport } from "../../apimachinery/request.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { FaultyRequest } from "../fault-transport.ts";

/**
 * - crash: it dies at its n-th write, and what it had begun is never taken up again: that write and the rest of its plan seem to have gone well
 * - staleRead: caches are late, and nothing tells: own writes count as seen, and no write is refused for being made on an old state
 * - lostEvent: changes that a watch never shows, nor a later list
 * - oldEvent: a change that was shown is followed by the state before it
 */
export const plants = ["crash", "staleRead", "lostEvent", "oldEvent"] as const;
export type Plant = (typeof plants)[number];

/** A plant, and who hears whenever it takes a guard away: one that never does is no plant. */
export interface Planted {
  readonly kind: Plant;
  readonly onTaken: () => void;
}

/** `send` with the plant in it. All controllers share what they read; what is written otherwise is only what the planted one writes. */
export function plantedTransport(send: Transport, options: PlantOptions): Transport {
  const { kind, isWriter } = options;
  switch (kind) {
    case "crash":
      return isWriter ? losingWrites(send, options) : send;
    case "staleRead":
      return trustingStaleReads(send, options);
    case "lostEvent":
    case "oldEvent":
      return async (request) => withEvents(await send(request), (chunks) => misreported(chunks, options));
  }
}

export interface PlantOptions extends Planted {
  /** Whether this is the line of the controller that the plant is in. */
  readonly isWriter: boolean;
  readonly random: Random;
  readonly clock: Clock;
}

/** How often a plant strikes. */
const rate = 0.3;
const maxLagMs = 20_000;

function losingWrites(send: Transport, { random, clock, onTaken }: PlantOptions): Transport {
  let deadMs = Number.NEGATIVE_INFINITY;
  return async (request) => {
    if (!isWrite(request) || isHeartbeat(request) || request.path.includes("/events")) return send(request);
    if (clock.nowMs() !== deadMs && random.fraction() >= rate) return send(request);
    // All that it still does in this instant is of the plan that it died in.
    deadMs = clock.nowMs();
    onTaken();
    return made(request, send);
  };
}

/** What the server would have answered, as far as a controller looks. */
async function made(request: FaultyRequest, send: Transport): Promise<ApiResponse> {
  if (request.method === "DELETE") return answer({ kind: "Status", apiVersion: "v1", status: "Success" });
  const object = request.method === "PATCH" ? await current(request, send) : parsed(request.body);
  const { name, generateName = "" } = object.metadata;
  return answer({ ...object, metadata: { resourceVersion: "1", uid: "lost", ...object.metadata, name: name ?? `${generateName}lost` } });
}

function trustingStaleReads(send: Transport, options: PlantOptions): Transport {
  return async (request) => {
    if (!isWrite(request)) return withEvents(await send(request), (chunks) => late(chunks, options, request.signal));
    if (!options.isWriter) return send(request);
    if (isGuarded(request)) options.onTaken();
    const response = await send(await unconditional(request, send));
    if (response.status >= 300 || response.body.kind !== "bytes") return response;
    const object = parsed(response.body.bytes);
    // A version that every cache has seen.
    return object.metadata?.resourceVersion === undefined
      ? response
      : answer({ ...object, metadata: { ...object.metadata, resourceVersion: "1" } }, response.status);
  };
}

/**
 * Whether a stale read could do harm through this write, were it not for the guard that the plant takes away: a version or a uid that the server
 * compares, or, where the server makes up the name, that own writes are waited for. Every other write says the same when it is said again.
 */
function isGuarded({ method, path, body }: FaultyRequest): boolean {
  if (path.includes("/events") || body.length === 0) return false;
  const { metadata, preconditions } = parsed(body) as KubeObject & { preconditions?: unknown };
  if (method === "POST") return metadata?.generateName !== undefined && metadata.name === undefined;
  return preconditions !== undefined || metadata?.resourceVersion !== undefined || metadata?.uid !== undefined;
}

/** The request as one that does not care what there is by now. */
async function unconditional(request: FaultyRequest, send: Transport): Promise<FaultyRequest> {
  if (request.body.length === 0 || request.method === "POST") return request;
  const body = parsed(request.body) as KubeObject & { preconditions?: unknown };
  if (request.method === "DELETE") delete body.preconditions;
  else if (body.metadata !== undefined) {
    const { resourceVersion: _version, uid: _uid, ...metadata } = body.metadata;
    const { resourceVersion, uid } = request.method === "PUT" ? ((await current(request, send)).metadata ?? {}) : {};
    body.metadata = { ...metadata, ...(resourceVersion !== undefined && { resourceVersion }), ...(uid !== undefined && { uid }) };
  }
  return { ...request, body: encoder.encode(JSON.stringify(body)) };
}

async function current({ path, headers, signal }: FaultyRequest, send: Transport): Promise<KubeObject> {
  const { "content-type": _type, ...others } = headers;
  const { body } = await send({ method: "GET", path, query: "", headers: others, body: new Uint8Array(), signal });
  return body.kind === "bytes" ? parsed(body.bytes) : { metadata: {} };
}

function withEvents(response: ApiResponse, change: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>): ApiResponse {
  if (response.body.kind !== "stream" || response.body.isDocument === true) return response;
  return { ...response, body: { kind: "stream", chunks: change(response.body.chunks) } };
}

async function* late(chunks: AsyncIterable<Uint8Array>, { random, clock }: PlantOptions, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (random.fraction() < rate) await sleep(clock, random.integer(maxLagMs), signal);
    yield chunk;
  }
}

/** Events as a watch tells them, some lost or followed by the state before. */
async function* misreported(chunks: AsyncIterable<Uint8Array>, { kind, random, onTaken }: PlantOptions): AsyncGenerator<Uint8Array> {
  const last = new Map<string, string>();
  for await (const chunk of chunks) {
    const told: string[] = [];
    for (const line of decoder.decode(chunk).split("\n").filter(Boolean)) {
      const { type, object } = JSON.parse(line) as { type: string; object: KubeObject };
      const isChange = type === "ADDED" || type === "MODIFIED" || type === "DELETED";
      const before = last.get(object.metadata?.uid ?? "");
      const strikes = isChange && random.fraction() < rate;
      if (strikes) onTaken();
      if (!(strikes && kind === "lostEvent")) told.push(line);
      if (strikes && kind === "oldEvent" && before !== undefined) told.push(before);
      if (isChange) last.set(object.metadata?.uid ?? "", line);
    }
    if (told.length > 0) yield encoder.encode(`${told.join("\n")}\n`);
  }
}

function answer(body: object, status = 200): ApiResponse {
  return bytesResponse(status, "application/json", JSON.stringify(body));
}

function parsed(bytes: Uint8Array): KubeObject {
  const value: unknown = JSON.parse(decoder.decode(bytes));
  return (Array.isArray(value) ? { metadata: undefined } : value) as KubeObject;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
