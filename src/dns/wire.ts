/**
 * DNS messages (RFC 1035, 2782, 3596, 6891) as far as a cluster's server needs them: queries in, responses out. Ours, since the npm
 * codec does not compress names, without which a headless Service's answers outgrow a datagram, and since this is the hot path.
 */

export const recordTypes = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, OPT: 41, ANY: 255 } as const;
export const responseCodes = { noError: 0, formatError: 1, serverFailure: 2, nameError: 3, notImplemented: 4, refused: 5, badVersion: 16 } as const;

export interface Query {
  readonly id: number;
  /** Lower case, without the final dot; `""` is the root. */
  readonly name: string;
  readonly type: number;
  readonly isRecursionDesired: boolean;
  /** Bytes of the header and the question, as they came. */
  readonly head: Uint8Array;
  /** The largest datagram that the client takes; undefined without EDNS. */
  readonly udpSize: number | undefined;
}

/** A query, the response code that refuses it, or undefined for what deserves no answer. */
export type ParsedQuery = Query | { readonly refusal: number; readonly head: Uint8Array; readonly udpSize?: number } | undefined;

/** One resource record of class IN. Names are lower case, without the final dot. */
export type DnsRecord = { readonly name: string; readonly ttl: number } & (
  | { readonly type: "A" | "AAAA"; readonly address: Uint8Array }
  | { readonly type: "CNAME" | "PTR" | "NS"; readonly target: string }
  | { readonly type: "SRV"; readonly priority: number; readonly weight: number; readonly port: number; readonly target: string }
  | { readonly type: "TXT"; readonly text: string }
  | { readonly type: "SOA"; readonly primary: string; readonly mailbox: string; readonly serial: number; readonly minimumTtl: number }
);

export interface DnsResponse {
  readonly code: number;
  readonly isAuthoritative: boolean;
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  readonly additionals: readonly DnsRecord[];
}

const headerBytes = 12;
const minUdpBytes = 512;
/** Larger datagrams get fragmented somewhere (the DNS flag day's figure). */
const maxUdpBytes = 1232;

export function parseQuery(message: Uint8Array): ParsedQuery {
  if (message.length < headerBytes || (message[2]! & 0x80) !== 0) return undefined;
  const word = (at: number) => (message[at]! << 8) | message[at + 1]!;
  const header = message.subarray(0, headerBytes);
  if ((message[2]! & 0x78) !== 0) return { refusal: responseCodes.notImplemented, head: header };
  if (word(4) !== 1) return { refusal: responseCodes.formatError, head: header };
  const name = readPlainName(message, headerBytes);
  if (name === undefined || name.end + 4 > message.length) return { refusal: responseCodes.formatError, head: header };
  const end = name.end + 4;
  const head = message.subarray(0, end);
  const edns = word(6) === 0 && word(8) === 0 && word(10) > 0 ? readEdns(message, end) : undefined;
  if (edns !== undefined && edns.version !== 0) return { refusal: responseCodes.badVersion, head, udpSize: edns.udpSize };
  if (word(name.end + 2) !== 1) return { refusal: responseCodes.refused, head };
  const type = word(name.end);
  return { id: word(0), name: name.text, type, isRecursionDesired: (message[2]! & 1) !== 0, head, udpSize: edns?.udpSize };
}

/** `maxBytes` is the transport's limit: what does not fit is left out and the response says that it is truncated. */
export function encodeResponse(query: Pick<Query, "name" | "head" | "udpSize">, response: DnsResponse, maxBytes: number): Uint8Array {
  const ednsBytes = query.udpSize === undefined ? 0 : 11;
  const writer = new MessageWriter(query.head, query.name, maxBytes - ednsBytes);
  const counts = [response.answers, response.authorities, response.additionals].map((records) => {
    let written = 0;
    while (written < records.length && writer.record(records[written]!)) written++;
    return written;
  });
  const isTruncated = counts[0]! < response.answers.length;
  if (query.udpSize !== undefined) writer.edns(response.code >> 4);
  const flags = 0x8080 | (response.isAuthoritative ? 0x0400 : 0) | (isTruncated ? 0x0200 : 0) | ((query.head[2]! & 1) << 8) | (response.code & 0xf);
  return writer.finish(flags, [query.head.length > headerBytes ? 1 : 0, counts[0]!, counts[1]!, counts[2]! + (ednsBytes > 0 ? 1 : 0)]);
}

/** The response to what `parseQuery` refused. */
export function encodeRefusal(refusal: { readonly refusal: number; readonly head: Uint8Array; readonly udpSize?: number }): Uint8Array {
  const empty = { code: refusal.refusal, isAuthoritative: false, answers: [], authorities: [], additionals: [] };
  return encodeResponse({ name: "", head: refusal.head, udpSize: refusal.udpSize }, empty, minUdpBytes);
}

/** How many bytes a response to this client may have over UDP. */
export function udpLimit(udpSize: number | undefined): number {
  return Math.min(maxUdpBytes, Math.max(minUdpBytes, udpSize ?? minUdpBytes));
}

export interface RecordPlace {
  readonly type: number;
  readonly ttlOffset: number;
  readonly dataOffset: number;
  readonly length: number;
}

/** Where a response's records stand, OPT left out; none when it is malformed. */
export function readRecords(message: Uint8Array): RecordPlace[] {
  if (message.length < headerBytes) return [];
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  let at: number | undefined = headerBytes;
  for (let left = view.getUint16(4); left > 0; left--) {
    at = skipName(message, at);
    if (at === undefined) return [];
    at += 4;
  }
  const places: RecordPlace[] = [];
  for (let left = view.getUint16(6) + view.getUint16(8) + view.getUint16(10); left > 0; left--) {
    at = skipName(message, at);
    if (at === undefined || at + 10 > message.length) return [];
    const place: RecordPlace = { type: view.getUint16(at), ttlOffset: at + 4, dataOffset: at + 10, length: view.getUint16(at + 8) };
    at = place.dataOffset + place.length;
    if (at > message.length) return [];
    if (place.type !== recordTypes.OPT) places.push(place);
  }
  return places;
}

/** A name without pointers, as questions have it. Dots and unusual bytes within a label are escaped as in zone files. */
function readPlainName(message: Uint8Array, start: number): { text: string; end: number } | undefined {
  let text = "";
  for (let at = start; at < message.length;) {
    const length = message[at]!;
    if (length === 0) return { text, end: at + 1 };
    if (length > 63 || at + length >= message.length || at + length - start > 254) return undefined;
    if (at > start) text += ".";
    for (let index = at + 1; index <= at + length; index++) text += letters[message[index]!];
    at += length + 1;
  }
  return undefined;
}

/** How each byte of a name is written: letters in lower case. */
const letters: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte).toLowerCase();
  return /[!-~]/.test(letter) && letter !== "." && letter !== "\\" ? letter : `\\${String(byte).padStart(3, "0")}`;
});

function skipName(message: Uint8Array, start: number): number | undefined {
  for (let at = start; at < message.length; at += message[at]! + 1) {
    const length = message[at]!;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
  }
  return undefined;
}

/** The OPT record, when it is the first additional one: where every client puts it. */
function readEdns(message: Uint8Array, at: number): { udpSize: number; version: number } | undefined {
  if (at + 11 > message.length || message[at] !== 0 || ((message[at + 1]! << 8) | message[at + 2]!) !== recordTypes.OPT) return undefined;
  return { udpSize: (message[at + 3]! << 8) | message[at + 4]!, version: message[at + 6]! };
}

/** Writes records after a question. Invariant: `#at` never passes `#limit`; a record that does not fit leaves no trace. */
class MessageWriter {
  #bytes: Buffer;
  #at: number;
  readonly #limit: number;
  /** Offsets of names written so far, for pointers to them. */
  readonly #offsets = new Map<string, number>();

  constructor(head: Uint8Array, questionName: string, limit: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(head.length, 512) + 11);
    this.#bytes.set(head);
    this.#at = head.length;
    this.#limit = limit;
    if (head.length > headerBytes) this.#noteSuffixes(questionName, headerBytes);
  }

  record(record: DnsRecord): boolean {
    const start = this.#at;
    if (start + 1024 + (record.type === "TXT" ? record.text.length : 0) > this.#bytes.length) this.#grow();
    this.#name(record.name);
    this.#word(recordTypes[record.type]);
    this.#word(1);
    this.#long(record.ttl);
    const lengthAt = this.#at;
    this.#at += 2;
    this.#data(record);
    this.#bytes.writeUInt16BE(this.#at - lengthAt - 2, lengthAt);
    if (this.#at <= this.#limit) return true;
    this.#at = start;
    for (const [suffix, offset] of this.#offsets) if (offset >= start) this.#offsets.delete(suffix);
    return false;
  }

  edns(extendedCode: number): void {
    if (this.#at + 11 > this.#bytes.length) this.#grow();
    this.#bytes[this.#at++] = 0;
    this.#word(recordTypes.OPT);
    this.#word(maxUdpBytes);
    this.#long(extendedCode << 24);
    this.#word(0);
  }

  finish(flags: number, counts: readonly number[]): Uint8Array {
    this.#bytes.writeUInt16BE(flags, 2);
    for (const [index, count] of counts.entries()) this.#bytes.writeUInt16BE(count, 4 + 2 * index);
    return this.#bytes.subarray(0, this.#at);
  }

  #data(record: DnsRecord): void {
    switch (record.type) {
      case "A":
      case "AAAA":
        this.#bytes.set(record.address, this.#at);
        this.#at += record.address.length;
        return;
      case "CNAME":
      case "PTR":
      case "NS":
        return this.#name(record.target);
      case "SRV":
        this.#word(record.priority);
        this.#word(record.weight);
        this.#word(record.port);
        // RFC 2782 wants it without pointers, and resolvers refuse it otherwise.
        return this.#name(record.target, false);
      case "TXT":
        this.#bytes[this.#at++] = record.text.length;
        this.#at += this.#bytes.write(record.text, this.#at, "latin1");
        return;
      case "SOA":
        this.#name(record.primary);
        this.#name(record.mailbox);
        for (const value of [record.serial, 7_200, 1_800, 86_400, record.minimumTtl]) this.#long(value);
    }
  }

  #name(name: string, isCompressed = true): void {
    let rest = name;
    while (rest !== "") {
      const known = this.#offsets.get(rest);
      if (known !== undefined && isCompressed) return this.#word(0xc000 | known);
      if (known === undefined && this.#at < 0x4000) this.#offsets.set(rest, this.#at);
      const dot = rest.indexOf(".");
      const label = dot < 0 ? rest : rest.slice(0, dot);
      this.#bytes[this.#at++] = label.length;
      this.#at += this.#bytes.write(label, this.#at, "latin1");
      rest = dot < 0 ? "" : rest.slice(dot + 1);
    }
    this.#bytes[this.#at++] = 0;
  }

  /** Escaped names differ in length from their bytes and are never pointed into. */
  #noteSuffixes(name: string, start: number): void {
    if (name.includes("\\")) return;
    for (let at = 0; at < name.length;) {
      this.#offsets.set(name.slice(at), start + at);
      const dot = name.indexOf(".", at);
      if (dot < 0) return;
      at = dot + 1;
    }
  }

  #word(value: number): void {
    this.#at = this.#bytes.writeUInt16BE(value & 0xffff, this.#at);
  }

  #long(value: number): void {
    this.#at = this.#bytes.writeUInt32BE(value >>> 0, this.#at);
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(this.#bytes.length * 2 + 2048);
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}
