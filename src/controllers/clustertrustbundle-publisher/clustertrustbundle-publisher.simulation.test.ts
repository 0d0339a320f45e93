import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { testAuthority } from "../../testing/authority.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { servingSigner } from "./plan.ts";
import type { ClusterTrustBundle } from "../../api/certificates-v1/types.ts";

const setting = { controllers: ["kube-apiserver-serving-clustertrustbundle-publisher-controller"], nodes: [], steps: 12 };

/** The bundle is deleted, and older ones of the signer appear: in the end there is one, of the API server's authority, and those of others are still there. */
simulate("the API server's authority is published once", setting, ({ client, random, state }) => {
  let born = 0;
  const bundles = () => state.of<ClusterTrustBundle>("ClusterTrustBundle");
  const create = (signerName: string) =>
    client.create(resources.clusterTrustBundles, {
      metadata: { name: `${signerName.replace("/", ":")}:b${++born}` },
      spec: { signerName, trustBundle: testAuthority },
    });
  return {
    arrange: () => create("example.com/mine"),
    async step() {
      const name = someOf(
        random,
        bundles().filter(({ spec }) => spec.signerName === servingSigner),
      )?.metadata.name;
      const choice = random.integer(4);
      if (choice === 0) return create("example.com/mine");
      if (choice === 1) return create(servingSigner);
      if (name !== undefined) return client.delete(resources.clusterTrustBundles, "", name);
    },
    check({ kind, object, old }) {
      if (kind === "ClusterTrustBundle" && object === undefined) assert.equal((old as ClusterTrustBundle).spec.signerName, servingSigner);
    },
    async reached() {
      const published = bundles().filter(({ spec }) => spec.signerName === servingSigner);
      assert.equal(published.length, 1);
      assert.match(published[0]?.metadata.name ?? "", /:[0-9a-f]{64}$/);
      assert.equal(published[0]?.spec.trustBundle, testAuthority);
    },
  };
});
