/** Webhooks of operators in the cluster's own process: the server reaches them without a socket; any other address is really called. */
import { WebhookConnections } from "../../cluster/connections/webhook-connections.ts";
import type { WebhookAnswer, WebhookConnector, WebhookTarget } from "../../apiserver/webhooks/webhook-connector.ts";
import type { ReviewAnswer, ServeWebhooks } from "../../operator/index.ts";

type Answer = (path: string, body: string) => ReviewAnswer;

export class LocalWebhooks implements WebhookConnector {
  readonly #byHost = new Map<string, Answer>();
  readonly #outside = new WebhookConnections();

  /** How an operator of this name serves its webhooks. */
  serve(operatorName: string): ServeWebhooks {
    const host = `${operatorName}.operators.invalid`;
    return async (answer, onAddress, signal) => {
      this.#byHost.set(host, answer);
      try {
        await onAddress((path) => ({ url: `https://${host}${path}` }));
        if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      } finally {
        this.#byHost.delete(host);
      }
    };
  }

  async post(target: WebhookTarget, body: Uint8Array, signal: AbortSignal): Promise<WebhookAnswer> {
    const { hostname, pathname } = new URL(target.url);
    const answer = this.#byHost.get(hostname);
    if (answer !== undefined) {
      const { status, body: text } = answer(pathname, Buffer.from(body).toString());
      return { status, headers: { "content-type": "application/json" }, body: Buffer.from(text) };
    }
    if (hostname.endsWith(".operators.invalid")) throw new Error(`dial tcp: lookup ${hostname}: no such host`);
    return this.#outside.post(target, body, signal);
  }

  close(): Promise<void> {
    return this.#outside.close();
  }
}
