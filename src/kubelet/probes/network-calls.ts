/** The calls that probes and hooks make into pods, as an option: nothing outside this interface opens a connection. */
export interface NetworkCalls {
  /** Redirects are followed only to the same host. Rejects when no answer comes. */
  http(request: HttpCall, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string; readonly isRedirected: boolean }>;
  /** Opens and closes a connection. */
  tcp(address: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<void>;
  /** grpc.health.v1.Health/Check; answers the serving status, such as `SERVING`. */
  grpc(address: { readonly host: string; readonly port: number; readonly service: string }, signal: AbortSignal): Promise<string>;
}

export interface HttpCall {
  readonly scheme: "HTTP" | "HTTPS";
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** A call that failed; the message is worded as Go words it, since events show it. */
export class CallError extends Error {
  override name = "CallError";
}
