import assert from "node:assert/strict";
import { formatTime } from "../../apimachinery/time.ts";
import { resources } from "../../client/index.ts";
import { someOf } from "../../testing/simulation/pods.ts";
import { simulate } from "../../testing/simulation/simulate.ts";
import { bootstrapTokenType, validForMs } from "../bootstrap-signer/bootstrap-token.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Secret } from "../../api/core-v1/types.ts";

const setting = { controllers: ["token-cleaner-controller"], nodes: [], steps: 16 };

/** Tokens are made that end soon, later or never, are prolonged, and replaced by new ones of their name: each goes when it has ended and not before. */
simulate("bootstrap tokens go when they have expired", setting, ({ cluster, client, random, state }) => {
  let born = 0;
  const replaced = new Set<string>();
  const tokens = () => state.of<Secret>("Secret").filter(({ type }) => type === bootstrapTokenType);
  const leftMs = (secret: DeepReadonly<Secret>) => validForMs(secret, cluster.clock.nowMs());
  const stringData = (afterMs: number) => ({ expiration: formatTime(cluster.clock.nowMs() + afterMs) });
  const create = (id = `tok${100 + ++born}`, afterMs = 1000 + random.integer(90_000)) =>
    client.create(resources.secrets, {
      metadata: { namespace: "kube-system", name: `bootstrap-token-${id}` },
      type: bootstrapTokenType,
      stringData: { "token-id": id, "token-secret": "0123456789abcdef", ...(random.integer(4) > 0 && stringData(afterMs)) },
    });
  return {
    arrange: () => create(),
    async step() {
      const token = someOf(random, tokens());
      const { name = "", uid = "" } = token?.metadata ?? {};
      const choice = random.integer(4);
      if (choice === 0 && token !== undefined)
        return client.patch(resources.secrets, "kube-system", name, { type: "merge", body: { stringData: stringData(random.integer(90_000)) } });
      if (choice > 1 || token === undefined) return create();
      // In the moment when its time is over, too.
      const soon = tokens().find((one) => leftMs(one) < 20_000) ?? token;
      await cluster.advance(Math.max(0, Math.min(20_000, leftMs(soon))));
      const { name: last = name, uid: lastUid = uid } = soon.metadata;
      replaced.add(lastUid);
      await client.delete(resources.secrets, "kube-system", last);
      return create(last.replace("bootstrap-token-", ""), 3_600_000);
    },
    check({ object, old }) {
      if (object !== undefined || (old as Secret | undefined)?.type !== bootstrapTokenType || replaced.has(old?.metadata.uid ?? "")) return;
      assert.ok(leftMs(old as Secret) <= 0, `${old?.metadata.name} has expired`);
    },
    settle: () => cluster.advance(300_000),
    async reached() {
      for (const token of tokens()) assert.ok(leftMs(token) > 0, `${token.metadata.name} is good`);
    },
  };
});
