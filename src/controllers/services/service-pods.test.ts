import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodStatus } from "../../api/core-v1/types.ts";
import { addressOf } from "./service-pods.ts";

test("a pod's address by family; loopback addresses of local processes are none", () => {
  const cases: [status: PodStatus, v4: string | undefined, v6: string | undefined][] = [
    [{}, undefined, undefined],
    [{ podIP: "10.1.2.3" }, "10.1.2.3", undefined],
    [{ podIP: "10.1.2.3", podIPs: [{ ip: "10.1.2.3" }, { ip: "fd00::7" }] }, "10.1.2.3", "fd00::7"],
    [{ podIP: "127.64.0.5", podIPs: [{ ip: "127.64.0.5" }] }, undefined, undefined],
    [{ podIP: "::1" }, undefined, undefined],
  ];
  for (const [status, v4, v6] of cases) {
    const pod = { metadata: { name: "p", namespace: "n" }, status };
    assert.equal(addressOf(pod, "IPv4"), v4, JSON.stringify(status));
    assert.equal(addressOf(pod, "IPv6"), v6, JSON.stringify(status));
  }
});
