import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricRegistry } from "../base/metrics.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { measuredResponder } from "./dns-metrics.ts";

/** A query for the name `a` of this type. */
const question = (type: number) => Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, type, 0, 1]);
const answer = (rcode: number) => Uint8Array.from([0, 1, 0x81, 0x80 | rcode, ...Array.from({ length: 100 }, () => 0)]);

test("DNS metrics: questions by protocol and type, answers by code and size; those from a promise, too; nothing for what gets no answer", async () => {
  const registry = new MetricRegistry();
  const options = { registry, clock: new VirtualClock(), port: 53, family: "1" } as const;
  assert.deepEqual(measuredResponder(() => answer(0), options)(question(1), false), answer(0));
  await measuredResponder(async () => answer(3), options)(question(28), true);
  measuredResponder(() => answer(5), options)(question(250), false);
  assert.equal(measuredResponder(() => undefined, options)(question(1), false), undefined);
  const lines = registry.text().split("\n");
  const place = 'server="dns://:53",zone="."';
  assert.deepEqual(lines.filter((line) => /^coredns_dns_(requests|responses)_total/.test(line)).toSorted(), [
    `coredns_dns_requests_total{family="1",proto="tcp",server="dns://:53",type="AAAA",zone="."} 1`,
    `coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",type="A",zone="."} 1`,
    `coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",type="other",zone="."} 1`,
    `coredns_dns_responses_total{rcode="NOERROR",${place}} 1`,
    `coredns_dns_responses_total{rcode="NXDOMAIN",${place}} 1`,
    `coredns_dns_responses_total{rcode="REFUSED",${place}} 1`,
  ]);
  assert.ok(lines.includes(`coredns_dns_request_duration_seconds_count{${place}} 3`));
  assert.ok(lines.includes(`coredns_dns_response_size_bytes_bucket{proto="udp",${place},le="200"} 2`), registry.text());
});
