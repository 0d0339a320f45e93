/** Counts questions and answers under the names that CoreDNS gives them. On the hot path: each series is looked up once. */
import type { Clock } from "../base/clock.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import type { Respond } from "./responder.ts";
import { recordTypes } from "./wire.ts";

/** `family`: of the address that is listened on. */
export function measuredResponder(respond: Respond, { registry, clock, port, family }: DnsMetricsOptions): Respond {
  const [server, zone] = [`dns://:${port}`, "."];
  const requests = registry.counter("coredns_dns_requests_total", "Counter of DNS requests made per zone, protocol and family.", [
    "family",
    "proto",
    "server",
    "type",
    "zone",
  ]);
  const responses = registry.counter("coredns_dns_responses_total", "Counter of response status codes.", ["rcode", "server", "zone"]);
  const duration = registry.histogram("coredns_dns_request_duration_seconds", "Histogram of the time (in seconds) each request took per zone.", durations, [
    "server",
    "zone",
  ]);
  const sizes = registry.histogram("coredns_dns_response_size_bytes", "Size of the returned response in bytes.", byteSizes, ["proto", "server", "zone"]);
  const time = duration.series(server, zone);
  const sized = { udp: sizes.series("udp", server, zone), tcp: sizes.series("tcp", server, zone) };
  const counted = {
    udp: remembered((type) => requests.series(family, "udp", server, type, zone)),
    tcp: remembered((type) => requests.series(family, "tcp", server, type, zone)),
  };
  const answered = remembered((rcode) => responses.series(rcode, server, zone));

  return (message, isTcp) => {
    const proto = isTcp ? "tcp" : "udp";
    const startedMs = clock.monotonicMs();
    const done = (response: Uint8Array) => {
      time.observe((clock.monotonicMs() - startedMs) / 1000);
      sized[proto].observe(response.length);
      answered(rcodes[response[3]! & 15] ?? "OTHER").value++;
      return response;
    };
    const response = respond(message, isTcp);
    // What deserves no answer is no question either.
    if (response === undefined) return undefined;
    counted[proto](typeOf(message)).value++;
    return response instanceof Uint8Array ? done(response) : response.then(done);
  };
}

export interface DnsMetricsOptions {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  readonly port: number;
  /** "1": IPv4, "2": IPv6, as CoreDNS has it. */
  readonly family: "1" | "2";
}

/** Of the first question. The number of labels' values is bounded: unusual types are one. */
function typeOf(message: Uint8Array): string {
  let at = 12;
  while (at < message.length && message[at] !== 0) at += message[at]! + 1;
  return typeNames.get((message[at + 1]! << 8) | message[at + 2]!) ?? "other";
}

function remembered<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = make(key)));
    return found;
  };
}

const typeNames: ReadonlyMap<number, string> = new Map(Object.entries(recordTypes).map(([name, type]) => [type, name]));
/** RFC 1035, RFC 2136. */
const rcodes = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];
const durations = Array.from({ length: 16 }, (_, index) => 0.00025 * 2 ** index);
const byteSizes = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16e3, 32e3, 48e3, 64e3];
