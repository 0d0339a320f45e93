import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { ipamSettings } from "./controller.ts";
import { allot, planPodCidrs } from "./plan.ts";
import { shareRange, sharesIn } from "./shares.ts";
import type { Node } from "../../api/core-v1/types.ts";

const prefixes = { IPv4: 24, IPv6: 64 };
const node = (name: string, podCIDRs: string[] = []): Node => ({
  metadata: { name, uid: name },
  spec: podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0]!, podCIDRs },
});

interface Case {
  readonly says: string;
  readonly ranges: readonly string[];
  readonly nodes: readonly Node[];
  readonly reserved?: readonly string[];
  readonly cursors?: readonly number[];
  readonly expect: readonly (readonly [string, readonly string[] | undefined])[];
}

const cases: Case[] = [
  {
    says: "one after the other",
    ranges: ["172.20.0.0/21"],
    nodes: [node("a"), node("b")],
    expect: [
      ["a", ["172.20.0.0/24"]],
      ["b", ["172.20.1.0/24"]],
    ],
  },
  { says: "around those that nodes have", ranges: ["172.20.0.0/21"], nodes: [node("own", ["172.20.0.0/23"]), node("a")], expect: [["a", ["172.20.2.0/24"]]] },
  { says: "around Services' range", ranges: ["172.20.0.0/21"], reserved: ["172.20.0.0/23"], nodes: [node("a")], expect: [["a", ["172.20.2.0/24"]]] },
  { says: "of both families", ranges: ["172.20.0.0/21", "fd00::/56"], nodes: [node("a")], expect: [["a", ["172.20.0.0/24", "fd00::/64"]]] },
  {
    says: "freed ones come last",
    ranges: ["172.20.0.0/22"],
    nodes: [node("a"), node("b")],
    cursors: [3],
    expect: [
      ["a", ["172.20.3.0/24"]],
      ["b", ["172.20.0.0/24"]],
    ],
  },
  {
    says: "none left",
    ranges: ["172.20.0.0/24"],
    nodes: [node("a"), node("b")],
    expect: [
      ["a", ["172.20.0.0/24"]],
      ["b", undefined],
    ],
  },
];
for (const { says, ranges, nodes, reserved = [], cursors = [], expect } of cases)
  test(`pod ranges: ${says}`, () => {
    const { allotments } = allot({ nodes, ranges: ranges.map((text) => shareRange(text, prefixes)), reserved, cursors });
    deepEqual(
      allotments.map(({ node: { metadata }, podCidrs }) => [metadata.name, podCidrs]),
      expect,
    );
  });

test("a node without a range is told so", () => {
  deepEqual(planPodCidrs([{ node: node("a"), podCidrs: undefined }]).actions, [
    {
      kind: "event",
      regarding: { kind: "Node", apiVersion: "v1", name: "a", uid: "a" },
      event: { type: "Normal", reason: "CIDRNotAvailable", message: "Node a status is now: CIDRNotAvailable" },
    },
  ]);
});

test("a range elsewhere takes no share", () => {
  deepEqual(sharesIn(shareRange("172.20.0.0/21", prefixes), "10.0.0.0/8"), undefined);
  deepEqual(sharesIn(shareRange("172.20.0.0/21", prefixes), "172.20.0.0/16"), [0, 7]);
});

test("ranges that cannot be shared out", () => {
  throws(() => shareRange("172.20.0.0/25", prefixes), /the mask size of a node, 24, is less than/);
  throws(() => shareRange("10.0.0.0/7", prefixes), /too many shares/);
  deepEqual(ipamSettings(new Map([["cluster-cidr", ["10.0.0.0/8"]]])), undefined);
});
