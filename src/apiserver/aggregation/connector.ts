/** How the server reaches extension API servers. Redirects are not followed. */
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";
import type { Address } from "../webhooks/service-address.ts";

export interface ExtensionConnector {
  /**
   * Sends a request and answers with what was said: a stream, or an upgrade. Rejects with an Error whose message says what went wrong with
   * the connection, as clients are to read it; when the request's signal aborts, with its reason.
   */
  send(target: ExtensionTarget, request: ExtensionRequest): Promise<ApiResponse>;
}

export interface ExtensionTarget {
  /** `host:port` as the server is called; sent as Host. */
  readonly host: string;
  /** Where to connect. */
  readonly address: Address;
  /** Whose certificate is expected. */
  readonly serverName: string;
  /** PEM; absent: the system's authorities count. */
  readonly caBundle?: string;
  readonly isInsecure: boolean;
}

/** Headers may come several times. */
export interface ExtensionRequest extends Omit<ApiRequest, "peer" | "headers"> {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** Of servers without a network. */
export const noExtensions: ExtensionConnector = { send: () => Promise.reject(new Error("no extension API server can be reached from here")) };
