import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { ClusterRole, ClusterRoleBinding } from "../../api/rbac-v1/types.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { openMemoryStore } from "../../storage/index.ts";
import { ask } from "../../testing/ask.ts";
import { TestCluster } from "../../testing/cluster.ts";
import { KeptStore } from "../../testing/kept-store.ts";

const group = "/apis/rbac.authorization.k8s.io/v1";
const merge = { "content-type": "application/merge-patch+json" };

test("bootstrap roles: what is missing comes back, what was added stays, who declined is left alone", async () => {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  const start = () => TestCluster.start({ wrapStore: () => new KeptStore(store, { clock, random: seededRandom(1) }) });
  const first = await start();
  const role = async (cluster: TestCluster, name: string) => (await ask(cluster, "GET", `${group}/clusterroles/${name}`)).json as unknown as ClusterRole;
  const original = await role(first, "system:node");
  const extra = { apiGroups: ["example.com"], resources: ["widgets"], verbs: ["get"] };
  await ask(first, "PATCH", `${group}/clusterroles/system:node`, { rules: [...original.rules!.slice(1), extra] }, merge);
  await ask(
    first,
    "PATCH",
    `${group}/clusterroles/system:discovery`,
    { rules: [], metadata: { annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" } } },
    merge,
  );
  await ask(first, "DELETE", `${group}/clusterroles/view`);
  await ask(first, "PATCH", `${group}/clusterrolebindings/cluster-admin`, { subjects: [] }, merge);
  await first.close();

  await using second = await start();
  deepEqual((await role(second, "system:node")).rules, [...original.rules!.slice(1), extra, original.rules![0]]);
  deepEqual((await role(second, "system:discovery")).rules ?? [], []);
  equal((await ask(second, "GET", `${group}/clusterroles/view`)).status, 200);
  const binding = (await ask(second, "GET", `${group}/clusterrolebindings/cluster-admin`)).json as unknown as ClusterRoleBinding;
  deepEqual(
    binding.subjects?.map(({ name }) => name),
    ["system:masters"],
  );
});
