import assert from "node:assert/strict";
import { resources } from "../../client/index.ts";
import { testSigningKey } from "../../testing/cluster.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import type { Secret, ServiceAccount } from "../../api/core-v1/types.ts";

const type = "kubernetes.io/service-account-token";
const accountName = "kubernetes.io/service-account.name";
const accountUid = "kubernetes.io/service-account.uid";
const names = ["a", "b", "c"];
const setting = { controllers: ["serviceaccount-token-controller"], credentials: { serviceAccountKey: testSigningKey() }, nodes: [], steps: 16 };

/** Accounts come and go under few names, Secrets ask for tokens and lose them: each ends with a token of its account, and goes with it. */
simulate("token Secrets have the token of their account", setting, ({ client, random, state }) => {
  let born = 0;
  const deleted = new Set<string>();
  const inDefault = ({ metadata }: { readonly metadata: { readonly namespace?: string } }) => metadata.namespace === "default";
  const accounts = () => state.of<ServiceAccount>("ServiceAccount").filter((account) => inDefault(account) && names.includes(account.metadata.name ?? ""));
  const secrets = () => state.of<Secret>("Secret").filter((secret) => inDefault(secret) && secret.type === type);
  const createAccount = async () => {
    const there = new Set(accounts().map(({ metadata }) => metadata.name));
    const name = someOf(
      random,
      names.filter((one) => !there.has(one)),
    );
    if (name !== undefined) await client.create(resources.serviceAccounts, { metadata: { namespace: "default", name } });
  };
  const deleteAccount = async () => {
    const account = someOf(random, accounts());
    if (account === undefined) return;
    await client.delete(resources.serviceAccounts, "default", account.metadata.name ?? "");
    // Another one of its name, before anybody has heard of it.
    if (random.integer(2) === 0) await client.create(resources.serviceAccounts, { metadata: { namespace: "default", name: account.metadata.name ?? "" } });
  };
  const createSecret = async () => {
    const account = someOf(random, accounts())?.metadata.name;
    if (account === undefined) return;
    await client.create(resources.secrets, { metadata: { namespace: "default", name: `s${++born}`, annotations: { [accountName]: account } }, type });
  };
  return {
    async arrange() {
      await createAccount();
      await createSecret();
    },
    async step() {
      const secret = someOf(random, secrets())?.metadata;
      const choice = random.integer(6);
      if (choice === 0) return createAccount();
      if (choice === 1) return deleteAccount();
      if (choice === 2 && secret !== undefined) {
        deleted.add(secret.uid ?? "");
        return client.delete(resources.secrets, "default", secret.name ?? "");
      }
      if (choice === 3 && secret !== undefined)
        return client.patch(resources.secrets, "default", secret.name ?? "", { type: "merge", body: { data: { token: null } } });
      return createSecret();
    },
    check({ kind, object, old }) {
      if (kind !== "Secret" || object !== undefined || old === undefined || !inDefault(old) || deleted.has(old.metadata.uid ?? "")) return;
      const { [accountUid]: uid, [accountName]: name } = old.metadata.annotations ?? {};
      const account = accounts().find(({ metadata }) => metadata.name === name);
      if (uid !== undefined) assert.notEqual(account?.metadata.uid, uid, `the account of ${old.metadata.name} is gone`);
    },
    async reached() {
      for (const { metadata, data } of secrets()) {
        const account = accounts().find(({ metadata: { name } }) => name === metadata.annotations?.[accountName]);
        assert.equal(metadata.annotations?.[accountUid], account?.metadata.uid, `${metadata.name} is of an account that is there`);
        const claims = JSON.parse(
          Buffer.from(
            Buffer.from(data?.["token"] ?? "", "base64")
              .toString()
              .split(".")[1] ?? "",
            "base64url",
          ).toString() || "{}",
        ) as object;
        const told = claims as Record<string, string>;
        assert.deepEqual(
          [told["kubernetes.io/serviceaccount/service-account.uid"], told["kubernetes.io/serviceaccount/secret.name"]],
          [account?.metadata.uid, metadata.name],
        );
        assert.ok(data?.["ca.crt"] !== undefined && data["namespace"] !== undefined);
      }
    },
  };
});
