import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { planBundle } from "./plan.ts";
import type { ClusterTrustBundle } from "../../api/certificates-v1/types.ts";

const name = "kubernetes.io:kube-apiserver-serving:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
const bundle = (called: string, trustBundle = "x"): ClusterTrustBundle => ({ metadata: { name: called }, spec: { trustBundle } });
const cases: [title: string, published: ClusterTrustBundle[], expect: string[]][] = [
  ["none yet", [], ["create"]],
  ["published", [bundle(name)], []],
  ["changed by somebody", [bundle(name, "y")], ["update"]],
  ["an older one", [bundle(name), bundle("old")], ["delete"]],
];
for (const [title, published, expect] of cases)
  test(`trust bundle: ${title}`, () =>
    deepEqual(
      planBundle({ caBundle: "x", published }).actions.map(({ kind }) => kind),
      expect,
    ));
