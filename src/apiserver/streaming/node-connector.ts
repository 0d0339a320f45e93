/** How the server reaches a node's kubelet for logs, exec, attach and port-forward. */
import type { ApiRequest, ApiResponse } from "../../apimachinery/request.ts";

export interface NodeConnector {
  /**
   * Sends a request to the kubelet of a node and answers with what it said: bytes, a stream, or an upgrade.
   * `address` and `port` are from the Node's status.
   */
  send(target: { readonly node: string; readonly address: string; readonly port: number }, request: Omit<ApiRequest, "peer">): Promise<ApiResponse>;
}
