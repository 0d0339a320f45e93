/** What the tests of this folder ask with. */
import type { TestCluster } from "../../src/testing/cluster.ts";

export const core = "/api/v1/namespaces/default";
export const configMaps = `${core}/configmaps`;
export const merge = { "content-type": "application/merge-patch+json" };
export const message = (answer: { json: object }) => String((answer.json as { message?: string }).message ?? "");
export const as = (cluster: TestCluster, username: string, groups: readonly string[] = []) => ({
  client: cluster.clientFor({ username, groups: [...groups, "system:authenticated"] }),
});
export const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});
