import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { quotaRules } from "../../cluster/components/apiserver/quota-rules.ts";
import { resources } from "../../client/index.ts";
import { TestCluster } from "../../testing/index.ts";
import { runControllers } from "../run.ts";
import type { Transport } from "../../apimachinery/request.ts";

const pod = (name: string) => ({ metadata: { namespace: "default", name }, spec: { containers: [{ name: "c", image: "a:1" }] } });

/** A transport whose watches of pods tell nothing while they are held. */
class HeldPods {
  #gate = Promise.withResolvers<void>();

  constructor() {
    this.#gate.resolve();
  }

  hold(): void {
    this.#gate = Promise.withResolvers<void>();
  }

  letGo(): void {
    this.#gate.resolve();
  }

  readonly wrap =
    (send: Transport): Transport =>
    async (request) => {
      const response = await send(request);
      if (response.body.kind !== "stream" || !request.path.endsWith("/pods")) return response;
      return { ...response, body: { kind: "stream", chunks: this.#held(response.body.chunks) } };
    };

  async *#held(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      await this.#gate.promise;
      yield chunk;
    }
  }
}

for (const { name, isLate, charged, waitMs, used } of [
  { name: "from caches that have seen what was charged", isLate: false, charged: undefined, waitMs: 0, used: "2" },
  { name: "past a cache that is older than the charge, which would be taken back", isLate: true, charged: undefined, waitMs: 0, used: "2" },
  { name: "anew after a while, for what was charged and then refused", isLate: false, charged: "5", waitMs: 300_000, used: "2" },
]) {
  test(`quotas are counted ${name}`, async () => {
    const pods = new HeldPods();
    const run = { flags: new Map(), selection: ["resourcequota-controller"], caBundle: "", quotaRules };
    await using cluster = await TestCluster.start({
      wrapTransport: pods.wrap,
      components: { controllers: (context) => runControllers({ ...context, ...run }) },
    });
    const { client } = cluster;
    await client.create(resources.serviceAccounts, { metadata: { namespace: "default", name: "default" } });
    await client.create(resources.resourceQuotas, { metadata: { namespace: "default", name: "few" }, spec: { hard: { pods: "9" } } });
    await cluster.advance(1000);
    await client.create(resources.pods, pod("a"));
    await cluster.advance(1000);
    if (isLate) pods.hold();
    await client.create(resources.pods, pod("b"));
    await client.patch(resources.resourceQuotas, "default", "few", { type: "merge", body: { spec: { hard: { pods: "8" } } } });
    await cluster.advance(1000);
    if (charged !== undefined)
      await client.patch(resources.resourceQuotas, "default", "few", { type: "merge", subresource: "status", body: { status: { used: { pods: charged } } } });
    await cluster.advance(waitMs);
    const { status } = await client.get(resources.resourceQuotas, "default", "few");
    pods.letGo();
    deepEqual(status, { hard: { pods: "8" }, used: { pods: used } });
  });
}
