/** How the server reaches webhooks that API objects name: admission, conversion. Redirects are not followed. */

export interface WebhookConnector {
  /**
   * Posts JSON. Rejects with an Error whose message says what went wrong with the connection, as clients are to read it; when `signal`
   * aborts, with its reason.
   */
  post(target: WebhookTarget, body: Uint8Array, signal: AbortSignal): Promise<WebhookAnswer>;
}

export interface WebhookTarget {
  /** Its host is what is sent as Host, and what the certificate must be for. */
  readonly url: string;
  /** Where to connect instead of the URL's host. */
  readonly address?: { readonly host: string; readonly port: number };
  /** PEM; absent: the system's authorities count. */
  readonly caBundle?: string;
}

export interface WebhookAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Of servers without a network. */
export const noWebhooks: WebhookConnector = { post: () => Promise.reject(new Error("no webhook can be reached from here")) };
