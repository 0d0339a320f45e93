/** Tokens of pods' service accounts, asked for by TokenRequest, bound to the pod, and made anew when four fifths of their life are over. */
import { parseTime } from "../../apimachinery/time.ts";
import type { DeepReadonly } from "../../apimachinery/json.ts";
import type { Pod } from "../../api/core-v1/types.ts";
import type { Clock } from "../../base/clock.ts";
import { resources } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";

export class ServiceAccountTokens {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #known = new Map<string, { podUid: string; token: string; expirationTimestamp: string; refreshAtMs: number }>();

  constructor(options: { client: Client; clock: Clock }) {
    this.#client = options.client;
    this.#clock = options.clock;
  }

  /** Rejects with a StatusError when the server refuses. */
  async get(
    pod: DeepReadonly<Pod>,
    request: { audience: string | undefined; expirationSeconds: number },
    signal: AbortSignal,
  ): Promise<{ token: string; expirationTimestamp: string; refreshAtMs: number }> {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const account = pod.spec?.serviceAccountName ?? "default";
    const key = JSON.stringify([uid, account, request]);
    const known = this.#known.get(key);
    const nowMs = this.#clock.nowMs();
    if (known !== undefined && nowMs < known.refreshAtMs) return known;
    const body = {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: {},
      spec: {
        audiences: request.audience === undefined || request.audience === "" ? null : [request.audience],
        expirationSeconds: request.expirationSeconds,
        boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid },
      },
    };
    const answer = await this.#client.createSubresource<TokenAnswer>(resources.serviceAccounts, { namespace, name: account, subresource: "token" }, body, {
      signal,
    });
    const expiresMs = parseTime(answer.status.expirationTimestamp);
    // At 80 % of its life, and at the latest after a day.
    const refreshAtMs = Math.min(nowMs + (expiresMs - nowMs) * 0.8, nowMs + 24 * 3_600_000);
    const made = { podUid: uid, token: answer.status.token, expirationTimestamp: answer.status.expirationTimestamp, refreshAtMs };
    this.#known.set(key, made);
    return made;
  }

  forget(podUid: string): void {
    for (const [key, known] of this.#known) if (known.podUid === podUid) this.#known.delete(key);
  }
}

interface TokenAnswer {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}
