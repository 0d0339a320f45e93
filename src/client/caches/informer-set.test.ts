import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "../../apimachinery/request.ts";
import { seededRandom } from "../../base/random.ts";
import { silentLog } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { Client } from "../client.ts";
import { resources } from "../resources.ts";
import { InformerSet } from "./informer-set.ts";

test("metadata comes from the informer of whole objects where that runs anyway, else from one of its own", async () => {
  const clock = new VirtualClock();
  // A server that never answers: which informers there are is known before.
  const transport: Transport = ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  const client = new Client({ transport, clock, userAgent: "test" });
  await using informers = new InformerSet({ client, clock, random: seededRandom(1), log: silentLog });
  const pods = informers.get(resources.pods);
  assert.equal(informers.borrowMetadata(resources.pods).informer, pods);
  informers.get(resources.secrets, { namespace: "kube-system" });
  assert.equal(informers.borrowMetadata(resources.secrets).informer.resource.representation, "metadata");
});
