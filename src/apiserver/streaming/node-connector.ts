/** How the server reaches a node's kubelet for logs, exec, attach and port-forward, and whatever a proxy request names. */
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";

export interface NodeConnector {
  /**
   * Sends a request to the kubelet of a node and answers with what it said: bytes, a stream, or an upgrade.
   * `address` and `port` are from the Node's status.
   */
  send(target: { readonly node: string; readonly address: string; readonly port: number }, request: Omit<ApiRequest, "peer">): Promise<ApiResponse>;
  /** Sends a request to a pod, an endpoint of a Service, or a node's kubelet. */
  forward(target: ForwardTarget, request: Omit<ApiRequest, "peer">): Promise<ApiResponse>;
}

export interface ForwardTarget {
  readonly scheme: "http" | "https";
  readonly address: string;
  readonly port: number;
  /** A kubelet, to which the server shows its own certificate; the certificates of others are not checked. */
  readonly isNode: boolean;
}
