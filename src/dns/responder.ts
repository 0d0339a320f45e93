/** From a query's bytes to a response's: the zone's answers at once, other names through the upstream. */
import type { Upstream } from "./upstream.ts";
import { encodeRefusal, encodeResponse, parseQuery, readRecords, recordTypes, responseCodes, udpLimit } from "./wire.ts";
import type { DnsRecord, DnsResponse, Query } from "./wire.ts";
import { answerQuestion } from "./zone.ts";
import type { ClusterView, ZoneAnswer } from "./zone.ts";

/** A response, or a promise of one; undefined for what deserves none. Never rejects. */
export type Respond = (message: Uint8Array, isTcp: boolean) => Uint8Array | Promise<Uint8Array> | undefined;

const maxTcpBytes = 65_535;
const failure: DnsResponse = { code: responseCodes.serverFailure, isAuthoritative: false, answers: [], authorities: [], additionals: [] };
/** Aliases of aliases that are followed. */
const maxAliases = 8;

export function createResponder(view: ClusterView, upstream: Upstream): Respond {
  let turn = 0;
  return (message, isTcp) => {
    const query = parseQuery(message);
    if (query === undefined) return undefined;
    if ("refusal" in query) return encodeRefusal(query);
    const limit = isTcp ? maxTcpBytes : udpLimit(query.udpSize);
    if (query.type === recordTypes.ANY) return encodeRefusal({ refusal: responseCodes.notImplemented, head: query.head });
    const answer = answerQuestion(query, view);
    if (answer === undefined) return forward(query, message, { upstream, isTcp });
    if (answer.alias !== undefined) return follow(query, answer, { view, upstream, isTcp, limit });
    const answers = answer.answers.length > 1 ? rotated(answer.answers, turn++) : answer.answers;
    return encodeResponse(query, { ...answer, answers }, limit);
  };
}

async function forward(query: Query, message: Uint8Array, { upstream, isTcp }: { upstream: Upstream; isTcp: boolean }): Promise<Uint8Array> {
  return (await upstream.ask(message, isTcp)) ?? encodeResponse(query, failure, udpLimit(query.udpSize));
}

interface FollowOptions {
  readonly view: ClusterView;
  readonly upstream: Upstream;
  readonly isTcp: boolean;
  readonly limit: number;
}

/** An ExternalName's response holds the records of the name it leads to as well, as far as they can be found. */
async function follow(query: Query, first: ZoneAnswer, { view, upstream, isTcp, limit }: FollowOptions): Promise<Uint8Array> {
  const answers: DnsRecord[] = [...first.answers];
  let code = first.code;
  let alias = first.alias;
  for (let count = 0; alias !== undefined && count < maxAliases; count++) {
    const next = answerQuestion({ name: alias, type: query.type }, view);
    if (next === undefined) {
      const response = await upstream.ask(questionFor(alias, query.type), isTcp);
      answers.push(...(response === undefined ? [] : readAddresses(response, alias)));
      break;
    }
    answers.push(...next.answers);
    code = next.code;
    alias = next.alias;
  }
  return encodeResponse(query, { ...first, code, answers }, limit);
}

/** A query that asks recursively for a name. */
function questionFor(name: string, type: number): Uint8Array {
  const labels = name.split(".").map((label) => Buffer.from(label, "latin1"));
  const bytes = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
  for (const label of labels) bytes.push(label.length, ...label);
  bytes.push(0, type >> 8, type & 0xff, 0, 1);
  return Uint8Array.from(bytes);
}

/** The addresses in a response, under the name that was asked for (its own aliases are left out). */
function readAddresses(response: Uint8Array, name: string): DnsRecord[] {
  const view = new DataView(response.buffer, response.byteOffset, response.length);
  const records: DnsRecord[] = [];
  for (const { type, ttlOffset, dataOffset, length } of readRecords(response)) {
    const address = Uint8Array.from(response.subarray(dataOffset, dataOffset + length));
    const ttl = view.getUint32(ttlOffset);
    if (type === recordTypes.A && length === 4) records.push({ name, ttl, type: "A", address });
    if (type === recordTypes.AAAA && length === 16) records.push({ name, ttl, type: "AAAA", address });
  }
  return records;
}

/** Another record first each time, so that clients that take the first spread over all. */
function rotated(records: DnsResponse["answers"], turn: number): DnsRecord[] {
  const start = turn % records.length;
  return [...records.slice(start), ...records.slice(0, start)];
}
