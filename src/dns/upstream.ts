import { createSocket } from "node:dgram";
import { connect, isIP } from "node:net";
import { deadline } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { readRecords, responseCodes } from "./wire.ts";

/** What is asked of other servers for names that are not the cluster's. */
export interface Upstream {
  /**
   * The response to a query (its bytes, with the query's id); undefined when no server answers. Over TCP when `isTcp`, so that long
   * answers come whole.
   */
  ask(query: Uint8Array, isTcp: boolean): Promise<Uint8Array | undefined>;
}

export interface UpstreamOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Asked in this order, each once. */
  readonly servers: readonly UpstreamServer[];
}

export interface UpstreamServer {
  readonly address: string;
  readonly port: number;
}

const timeoutMs = 2_000;
/** Queries under way at once; more are refused, as a resolver under attack would. */
const maxAsking = 512;
const maxCached = 2_000;
const maxCachedSeconds = 30;

interface CacheEntry {
  readonly bytes: Uint8Array;
  readonly ttlOffsets: readonly number[];
  readonly storedMs: number;
  readonly untilMs: number;
}

/**
 * A forwarder with a small cache: at most 2,000 answers, each for at most 30 s and no longer than its least TTL; when it is full the
 * oldest gives way. Every query over UDP has a socket and an id of its own, so that answers are hard to forge.
 */
export function createUpstream({ clock, random, servers }: UpstreamOptions): Upstream {
  const cache = new Map<string, CacheEntry>();
  let asking = 0;
  return {
    async ask(query, isTcp) {
      const key = `${isTcp ? "t" : "u"}${Buffer.from(query.subarray(2)).toString("latin1").toLowerCase()}`;
      const known = cache.get(key);
      if (known !== undefined && clock.monotonicMs() < known.untilMs) return withId(aged(known, clock.monotonicMs()), query);
      if (asking >= maxAsking) return undefined;
      asking += 1;
      try {
        for (const server of servers) {
          const sent = Uint8Array.from(query);
          sent.set(random.bytes(2));
          const response = await (isTcp ? askTcp(server, sent, clock) : askUdp(server, sent, clock));
          if (response === undefined) continue;
          store(cache, key, response, clock.monotonicMs());
          return withId(response, query);
        }
        return undefined;
      } finally {
        asking -= 1;
      }
    },
  };
}

/** The servers of a resolv.conf file; those in `except` (our own addresses) would ask us again. */
export function readResolvConf(text: string, except: readonly string[] = []): UpstreamServer[] {
  const addresses = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, address]) => address!);
  return addresses.filter((address) => isIP(address) !== 0 && !except.includes(address)).map((address) => ({ address, port: 53 }));
}

function askUdp({ address, port }: UpstreamServer, query: Uint8Array, clock: Clock): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(isIP(address) === 6 ? "udp6" : "udp4");
    const timeout = deadline(clock, timeoutMs);
    let isDone = false;
    const done = (response?: Uint8Array) => {
      if (isDone) return;
      isDone = true;
      timeout.cancel();
      socket.close();
      resolve(response);
    };
    timeout.signal.addEventListener("abort", () => done(), { once: true });
    socket.on("error", () => done());
    socket.on("message", (response) => isResponseTo(query, response) && done(response));
    socket.connect(port, address, () => socket.send(query));
  });
}

function askTcp({ address, port }: UpstreamServer, query: Uint8Array, clock: Clock): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const timeout = deadline(clock, timeoutMs);
    let received = Buffer.alloc(0);
    const done = (response?: Uint8Array) => {
      timeout.cancel();
      socket.destroy();
      resolve(response);
    };
    timeout.signal.addEventListener("abort", () => done(), { once: true });
    socket.on("error", () => done());
    socket.on("close", () => done());
    socket.on("connect", () => socket.write(framed(query)));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const response = received.subarray(2, 2 + received.readUInt16BE(0));
      done(isResponseTo(query, response) ? response : undefined);
    });
  });
}

/** A message as it goes over TCP: its length first. */
export function framed(message: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(2 + message.length);
  bytes.writeUInt16BE(message.length, 0);
  bytes.set(message, 2);
  return bytes;
}

/** Same id and the same question. */
function isResponseTo(query: Uint8Array, response: Uint8Array): boolean {
  if (response.length < 12 || (response[2]! & 0x80) === 0 || response[0] !== query[0] || response[1] !== query[1]) return false;
  for (let at = 12; at < query.length && query[at] !== 0; at++) if (lower(response[at] ?? 0) !== lower(query[at]!)) return false;
  return true;
}

const lower = (byte: number) => (byte >= 65 && byte <= 90 ? byte + 32 : byte);

function store(cache: Map<string, CacheEntry>, key: string, bytes: Uint8Array, nowMs: number): void {
  cache.delete(key);
  const code = bytes[3]! & 0xf;
  const isTruncated = (bytes[2]! & 2) !== 0;
  const ttlOffsets = readRecords(bytes).map(({ ttlOffset }) => ttlOffset);
  // Only answers and denials are worth keeping; a server that fails now may not fail in a second.
  if (isTruncated || ttlOffsets.length === 0 || (code !== responseCodes.noError && code !== responseCodes.nameError)) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const seconds = Math.min(maxCachedSeconds, ...ttlOffsets.map((offset) => view.getUint32(offset)));
  if (seconds <= 0) return;
  cache.set(key, { bytes: Uint8Array.from(bytes), ttlOffsets, storedMs: nowMs, untilMs: nowMs + seconds * 1000 });
  if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
}

/** The response with its TTLs as much less as it is old. */
function aged({ bytes, ttlOffsets, storedMs }: CacheEntry, nowMs: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const view = new DataView(copy.buffer);
  const ageSeconds = Math.floor((nowMs - storedMs) / 1000);
  for (const offset of ttlOffsets) view.setUint32(offset, Math.max(0, view.getUint32(offset) - ageSeconds));
  return copy;
}

function withId(response: Uint8Array, query: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(response);
  copy.set(query.subarray(0, 2));
  return copy;
}
