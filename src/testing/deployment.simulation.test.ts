/**
 * Seeds of a cluster whose components lose requests and answers, see writes arrive twice and streams break: in the end a Deployment has as
 * many pods as it wants, none twice, whatever was lost on the way.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../base/random.ts";
import type { Deployment } from "../api/apps-v1/types.ts";
import { resources } from "../client/index.ts";
import { quotaRules } from "../cluster/components/quota-rules.ts";
import { runControllers } from "../controllers/index.ts";
import { testAuthority } from "./authority.ts";
import { TestCluster } from "./cluster.ts";
import { FaultTransport } from "./fault-transport.ts";
import { HollowNodes } from "./hollow-nodes.ts";

const seeds = Number(process.env["CORACLE_SEEDS"] ?? 3);

const deployment = (replicas: number, image: string): Deployment => ({
  kind: "Deployment",
  apiVersion: "apps/v1",
  metadata: { namespace: "default", name: "web" },
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image }] } } },
});

for (let seed = 1; seed <= seeds; seed++) {
  test(`a Deployment ends as it was told to be, seed ${seed}`, async () => {
    const random = seededRandom(seed);
    const rates = { dropRequest: 0.05, dropAnswer: 0.05, repeat: 0.05, breakStream: 0.2 };
    let lost = 0;
    const nodes = new HollowNodes(["n1", "n2", "n3"], { bindsPods: true });
    await using cluster = await TestCluster.start({
      seed,
      components: {
        nodes: nodes.run,
        controllers: (context) => runControllers({ ...context, caBundle: testAuthority, quotaRules, flags: new Map() }),
      },
      wrapTransport(transport, user, clock) {
        // The hollow nodes stand for machines with a good line.
        if (!user.username.startsWith("system:serviceaccount:")) return transport;
        const faulty = new FaultTransport(transport, { random, clock, rates });
        return async (request) => {
          const before = faulty.count("dropRequest") + faulty.count("dropAnswer");
          return faulty.send(request).finally(() => {
            lost += faulty.count("dropRequest") + faulty.count("dropAnswer") - before;
          });
        };
      },
    });
    await cluster.settled();
    await cluster.client.create(resources.deployments, deployment(5, "a:1"));
    await cluster.settled({ quietMs: 60_000 });
    await cluster.client.patch(resources.deployments, "default", "web", { type: "merge", body: { spec: { replicas: 7, template: { spec: { containers: [{ name: "c", image: "a:2" }] } } } } });
    await cluster.settled({ quietMs: 120_000 });
    const pods = (await cluster.client.list(resources.pods, "default")).items;
    assert.equal(pods.length, 7, `pods, seed ${seed}`);
    assert.ok(pods.every((pod) => pod.spec?.containers?.[0]?.image === "a:2"));
    const { status } = await cluster.client.get(resources.deployments, "default", "web");
    assert.equal(status?.availableReplicas, 7);
    assert.ok(lost > 0, "some requests were lost");
  });
}
