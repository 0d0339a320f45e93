import { test } from "node:test";
import { deepEqual, equal, match } from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { testSigningKey } from "../../testing/cluster.ts";
import { TestCluster } from "../../testing/index.ts";
import { runControllers } from "../run.ts";
import { invalidSinceLabel, lastUsedLabel } from "./plan.ts";

const dayMs = 86_400_000;

test("legacy tokens: uses are noted, tokens that nobody uses are refused after a while and go after another", async () => {
  const flags = new Map([["legacy-service-account-token-clean-up-period", ["36h"]]]);
  const selection = ["serviceaccount-token-controller", "legacy-serviceaccount-token-cleaner-controller"];
  await using cluster = await TestCluster.start({
    startMs: Date.parse("2026-01-01T12:00:00Z"),
    components: { controllers: (context) => runControllers({ ...context, flags, selection, caBundle: "", serviceAccountKey: testSigningKey() }) },
  });
  const { client } = cluster;
  const account = await client.create(resources.serviceAccounts, { metadata: { namespace: "default", name: "a" }, secrets: [{ name: "t" }] });
  const annotations = { "kubernetes.io/service-account.name": "a", "kubernetes.io/service-account.uid": account.metadata.uid! };
  await client.create(resources.secrets, { metadata: { namespace: "default", name: "t", annotations }, type: "kubernetes.io/service-account-token" });
  await cluster.turn();
  const secret = () => client.get(resources.secrets, "default", "t");
  const token = Buffer.from((await secret()).data!.token!, "base64").toString();
  const review = async () => (await client.create(resources.tokenReviews, { metadata: {}, spec: { token } })).status;
  const labels = async () => (await secret()).metadata.labels ?? {};
  equal((await review())?.authenticated, true);
  await cluster.turn();
  deepEqual(await labels(), { [lastUsedLabel]: "2026-01-01" });
  await cluster.advance(1.4 * dayMs);
  deepEqual(await labels(), { [lastUsedLabel]: "2026-01-01" });
  await cluster.advance(0.1 * dayMs);
  deepEqual(await labels(), { [lastUsedLabel]: "2026-01-01", [invalidSinceLabel]: "2026-01-03" });
  match((await review())?.error ?? "", /the token in secret default\/t for service account default\/a has been marked invalid/);
  await cluster.advance(1.5 * dayMs);
  equal((await client.list(resources.secrets, "default")).items.length, 0);
});
