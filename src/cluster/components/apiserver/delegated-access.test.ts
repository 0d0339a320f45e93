import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { bytesResponse } from "../../../apimachinery/request.ts";
import { Client, resources } from "../../../client/index.ts";
import { TestCluster } from "../../../testing/index.ts";
import type { ClusterComponent } from "../../../testing/index.ts";
import { CertificateTrust } from "../../../apiserver/authn/certificate-trust.ts";
import { testAuthority } from "../../../testing/authority.ts";
import { ask as askApi } from "../../../testing/ask.ts";
import { delegatedAccess } from "./delegated-access.ts";

test("a component's server: health is for everybody, all else for whom the API server allows it", async () => {
  const clients: Client[] = [];
  const component: ClusterComponent = ({ transportFor, clock, signal }) => {
    clients.push(new Client({ transport: transportFor({ username: "system:kube-scheduler", groups: ["system:authenticated"] }), clock, userAgent: "test" }));
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  };
  await using cluster = await TestCluster.start({ components: { component } });
  const { clock } = cluster;
  const client = clients[0]!;
  const handler = delegatedAccess(async ({ path }) => bytesResponse(200, "text/plain", path), {
    client,
    trust: new CertificateTrust([testAuthority]),
    nowMs: () => clock.nowMs(),
  });
  const ask = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const signal = new AbortController().signal;
    const peer = { address: "127.0.0.1", isHttp2: false };
    const { status, body } = await handler({ method: "GET", path, query: "", headers, peer, body: new Uint8Array(), signal });
    return [status, body.kind === "bytes" ? Buffer.from(body.bytes).toString() : ""];
  };
  deepEqual(await ask("/readyz"), [200, "/readyz"]);
  const [status, refusal] = await ask("/metrics");
  deepEqual([status, (JSON.parse(String(refusal)) as { message: string }).message], [403, 'forbidden: User "system:anonymous" cannot get path "/metrics"']);
  equal((await ask("/metrics", "nonsense"))[0], 401);
  await cluster.client.create(resources.serviceAccounts, { metadata: { name: "prometheus", namespace: "default" } });
  const path = "/api/v1/namespaces/default/serviceaccounts/prometheus/token";
  const answer = await askApi(cluster, "POST", path, { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} });
  const { token } = answer.json.status as { token: string };
  equal((await ask("/metrics", token))[0], 403);
  await cluster.client.create(resources.clusterRoles, { metadata: { name: "metrics" }, rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }] });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "metrics" };
  const subjects = [{ kind: "ServiceAccount", name: "prometheus", namespace: "default" }];
  await cluster.client.create(resources.clusterRoleBindings, { metadata: { name: "metrics" }, roleRef, subjects });
  deepEqual(await ask("/metrics", token), [200, "/metrics"]);
});
