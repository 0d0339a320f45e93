import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { isAlreadyExists } from "../../apimachinery/status.ts";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { bootstrapToken, bootstrapTokenType } from "./bootstrap-token.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { ConfigMap, Secret } from "../../api/core-v1/types.ts";

const signature = (content: string, id: string, secret: string) => {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  return createHmac("sha256", secret)
    .update(`${header}.${Buffer.from(content).toString("base64url")}`)
    .digest("base64url");
};

/** Tokens come and go, sign or do not, and the kubeconfig changes: in the end it is signed by just those that sign, and other content is untouched. */
simulate(
  "cluster-info is signed by every token that signs",
  { controllers: ["bootstrap-signer-controller"], nodes: [], steps: 14 },
  ({ client, random, state }) => {
    let version = 1;
    let mine = 0;
    const tokens = () => state.of<Secret>("Secret").filter(({ type }) => type === bootstrapTokenType);
    const clusterInfo = () => state.of<ConfigMap>("ConfigMap").find(({ metadata }) => metadata.name === "cluster-info");
    const change = (data: Record<string, string>) => client.patch(resources.configMaps, "kube-public", "cluster-info", { type: "merge", body: { data } });
    const createToken = () => {
      const id = `tok${100 + random.integer(6)}`;
      const stringData = { "token-id": id, "token-secret": `${random.integer(1_000_000)}`, "usage-bootstrap-signing": String(random.integer(3) > 0) };
      const metadata = { namespace: "kube-system", name: `bootstrap-token-${id}` };
      return client.create(resources.secrets, { metadata, type: bootstrapTokenType, stringData }).catch((error: unknown) => assert.ok(isAlreadyExists(error)));
    };
    const own = (data: DeepReadonly<ConfigMap>["data"]) => Object.entries(data ?? {}).filter(([key]) => !key.startsWith("jws-kubeconfig-"));
    return {
      async arrange() {
        for (const name of ["kube-public"]) await client.create(resources.namespaces, { metadata: { name } }).catch(() => undefined);
        await client.create(resources.configMaps, { metadata: { namespace: "kube-public", name: "cluster-info" }, data: { kubeconfig: "1", mine: "0" } });
        await createToken();
      },
      async step() {
        const name = someOf(random, tokens())?.metadata.name;
        const choice = random.integer(5);
        if (choice === 0) return change({ kubeconfig: String(++version) });
        if (choice === 1) return change({ mine: String(++mine) });
        if (choice === 2 && name !== undefined) return client.delete(resources.secrets, "kube-system", name);
        if (choice === 3 && name !== undefined) {
          const stringData = { "usage-bootstrap-signing": String(random.integer(2) === 0) };
          return client.patch(resources.secrets, "kube-system", name, { type: "merge", body: { stringData } });
        }
        return createToken();
      },
      check({ object }) {
        if (object?.metadata.name !== "cluster-info") return;
        assert.deepEqual(own((object as ConfigMap).data), [
          ["kubeconfig", String(version)],
          ["mine", String(mine)],
        ]);
      },
      async reached() {
        const signing = tokens().flatMap((secret) => {
          const token = bootstrapToken(secret);
          return token?.values["usage-bootstrap-signing"] === "true" ? [token] : [];
        });
        const told = Object.entries(clusterInfo()?.data ?? {}).filter(([key]) => key.startsWith("jws-kubeconfig-"));
        assert.deepEqual(
          told.map(([key, value]) => `${key} ${value.split(".")[2]}`).sort(),
          signing.map(({ id, secret }) => `jws-kubeconfig-${id} ${signature(String(version), id, secret)}`).sort(),
        );
      },
    };
  },
);
